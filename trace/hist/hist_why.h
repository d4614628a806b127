/* Sentences of the file `why` about histograms: see instance/why.h. */
#ifndef HIST_WHY_H
#define HIST_WHY_H

#include "instance/why.h"

extern const struct trace_why_check trace_hist_whys[];

#endif
