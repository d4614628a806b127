/* Calls of work(), traced by whoever has started this. */
#include "loop.h"

int main(void)
{
	return loop_run(loop_call_work);
}
