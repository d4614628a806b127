/*
 * hist_debug: the parts of a histogram, its variables and actions as Linux lists them, and its program.
 */
#include "unit.h"
#include "hist_help.h"

/* hist_debug without its last part, which Linux does not have. */
static const char *without_program(const char *debug)
{
	static char text[20000];
	char *end;

	snprintf(text, sizeof(text), "%s", debug);
	end = strstr(text, "\n  program:\n");
	assert_non_null(end);
	*end = '\0';
	return text;
}

static void its_program(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time");
	add(LEAVE, "hist:keys=id,time.log2:vals=time:lat=(time-$t0)*2/3");
	same(strstr(show_file(ARRIVE, "hist_debug"), "  program:"),
	     "  program:\n"
	     "\n"
	     "   0 FIELD offset 4 shift 32 mask ffffffffffffffff\n"
	     "   1 KEY_NUMBER\n"
	     "   2 FIND_NUMBER\n"
	     "   3 FIELD offset 12 shift 0 mask ffffffffffffffff\n"
	     "   4 SET_ONE\n"
	     "   5 END\n");
	same(strstr(show_file(LEAVE, "hist_debug"), "  program:"),
	     "  program:\n"
	     "\n"
	     "   0 FIELD offset 4 shift 32 mask ffffffffffffffff\n"
	     "   1 KEY\n"
	     "   2 BEGINNING\n"
	     "   3 FIELD offset 12 shift 0 mask ffffffffffffffff\n"
	     "   4 LOG2\n"
	     "   5 KEY\n"
	     "   6 READ_BY\n"
	     "   7 FIND\n"
	     "   8 FIELD offset 12 shift 0 mask ffffffffffffffff\n"
	     "   9 DECREASE\n"
	     "  10 SAVE temps[0]\n"
	     "  11 CONST 2\n"
	     "  12 MUL temps[0]\n"
	     "  13 DIVIDE 3\n"
	     "  14 SET_ONE\n"
	     "  15 FIELD offset 12 shift 0 mask ffffffffffffffff\n"
	     "  16 SUM\n"
	     "  17 END\n");
	add(CARGO, "hist:keys=nr:vals=bytes");
	same(strstr(show_file(CARGO, "hist_debug"), "  program:"),
	     "  program:\n"
	     "\n"
	     "   0 FIELD offset 24 shift 0 mask ffffffffffffffff\n"
	     "   1 END\n"
	     "   2 FIELD offset 16 shift 0 mask ffffffffffffffff\n"
	     "   3 END\n");
}

/* Numbers alone are one constant; with a field they are one operand of it. */
static void numbers_are_folded(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id:x=2*(3+4)/5-1,y=time+2*3,z=-(2+3)");
	same(strstr(show_file(ARRIVE, "hist_debug"), "  program:"),
	     "  program:\n"
	     "\n"
	     "   0 FIELD offset 4 shift 32 mask ffffffffffffffff\n"
	     "   1 KEY_NUMBER\n"
	     "   2 FIND_NUMBER\n"
	     "   3 CONST 1\n"
	     "   4 SET\n"
	     "   5 FIELD offset 12 shift 0 mask ffffffffffffffff\n"
	     "   6 SAVE temps[0]\n"
	     "   7 CONST 6\n"
	     "   8 ADD temps[0]\n"
	     "   9 SET\n"
	     "  10 CONST 5\n"
	     "  11 NEG\n"
	     "  12 SET\n"
	     "  13 SET_ALL\n"
	     "  14 END\n");
}

static void what_it_consists_of(void **state)
{
	char text[20], want[4000];
	const char *id;

	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time");
	add(LEAVE, "hist:keys=id,name:vals=time:lat=time-$t0");
	id = strstr(show_file(ARRIVE, "hist_debug"), "hist_data: ") + 11;
	snprintf(text, sizeof(text), "%.16s", id);
	snprintf(want, sizeof(want),
		 "  n_vals: 3\n"
		 "  n_keys: 2\n"
		 "  n_fields: 5\n"
		 "\n"
		 "  val fields:\n"
		 "\n"
		 "    hist_data->fields[0]:\n"
		 "      flags:\n"
		 "        VAL: HIST_FIELD_FL_HITCOUNT\n"
		 "      type: u64\n"
		 "      size: 8\n"
		 "      is_signed: 0\n"
		 "\n"
		 "    hist_data->fields[1]:\n"
		 "      flags:\n"
		 "        VAL: normal u64 value\n"
		 "      ftrace_event_field name: time\n"
		 "      type: u64\n"
		 "      size: 8\n"
		 "      is_signed: 0\n"
		 "\n"
		 "    hist_data->fields[2]:\n"
		 "      flags:\n"
		 "        HIST_FIELD_FL_VAR\n"
		 "      var.name: lat\n"
		 "      var.idx (into tracing_map_elt.vars[]): 0\n"
		 "      type: u64\n"
		 "      size: 8\n"
		 "      is_signed: 0\n"
		 "\n"
		 "  key fields:\n"
		 "\n"
		 "    hist_data->fields[3]:\n"
		 "      flags:\n"
		 "        HIST_FIELD_FL_KEY\n"
		 "      ftrace_event_field name: id\n"
		 "      type: int\n"
		 "      size: 8\n"
		 "      is_signed: 1\n"
		 "\n"
		 "    hist_data->fields[4]:\n"
		 "      flags:\n"
		 "        HIST_FIELD_FL_KEY\n"
		 "      ftrace_event_field name: name\n"
		 "      type: __data_loc char[]\n"
		 "      size: 256\n"
		 "      is_signed: 0\n"
		 "\n"
		 "  variable reference fields:\n"
		 "\n"
		 "    hist_data->var_refs[0]:\n"
		 "      flags:\n"
		 "        HIST_FIELD_FL_VAR_REF\n"
		 "      name: t0\n"
		 "      var.idx (into tracing_map_elt.vars[]): 0\n"
		 "      var.hist_data: %s\n"
		 "      var_ref_idx (into hist_data->var_refs[]): 0\n"
		 "      type: u64\n"
		 "      size: 8\n"
		 "      is_signed: 0\n",
		 text);
	same(strstr(without_program(show_file(LEAVE, "hist_debug")), "  n_vals"), want);
}

/* hist_debug of `dir` from `from` on, with the histograms of ARRIVE and of LEAVE as A and B. */
static const char *debug_from(const char *dir, const char *from)
{
	static char text[20000];
	char ids[2][20];

	for (int i = 0; i < 2; i++) {
		const char *id = strstr(show_file(i ? LEAVE : ARRIVE, "hist_debug"), "hist_data: ");

		snprintf(ids[i], sizeof(ids[i]), "%.16s", id ? id + 11 : "none");
	}
	snprintf(text, sizeof(text), "%s", without_program(show_file(dir, "hist_debug")));
	for (int i = 0; i < 2; i++) {
		for (char *at = text; (at = strstr(at, ids[i]));) {
			memmove(at + 1, at + 16, strlen(at + 16) + 1);
			*at = (char)('A' + i);
		}
	}
	assert_non_null(strstr(text, from));
	return strstr(text, from);
}

#define REF(nr, name, idx, of, type, size, is_signed)                                              \
	"      flags:\n        HIST_FIELD_FL_VAR_REF\n      name: " name "\n"                      \
	"      var.idx (into tracing_map_elt.vars[]): " idx "\n      var.hist_data: " of "\n"      \
	"      var_ref_idx (into hist_data->var_refs[]): " nr "\n" TYPE(type, size, is_signed)
#define TYPE(type, size, is_signed)                                                                \
	"      type: " type "\n      size: " size "\n      is_signed: " is_signed "\n"
#define VAR(name, idx)                                                                             \
	"      flags:\n        HIST_FIELD_FL_VAR\n      var.name: " name "\n"                      \
	"      var.idx (into tracing_map_elt.vars[]): " idx "\n"
#define FIELD(name) "      ftrace_event_field name: " name "\n"

/*
 * Behind the fields: what actions follow, wait for, keep and take. It is what Linux's
 * histogram-design.rst shows of such histograms, whose expressions have the size of their operands
 * in later versions.
 */
static void actions_consist_of(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=id:t0=time");
	add(LEAVE, "hist:keys=id:t=time-$t0:onmax($t).save(id,name)");
	same(debug_from(LEAVE, "\n  variable reference fields"),
	     "\n  variable reference fields:\n"
	     "\n    hist_data->var_refs[0]:\n" REF(
		     "0", "t0", "0", "A", "u64", "8",
		     "0") "\n    hist_data->var_refs[1]:\n" REF("1", "t", "0", "B", "u64", "8",
								"0") "\n  action tracking "
								     "variables (for "
								     "onmax()/onchange()/"
								     "onmatch()):\n"
								     "\n    "
								     "hist_data->actions[0].track_"
								     "data.var_ref:\n" REF("1", "t", "0", "B", "u64", "8", "0") "\n    hist_data->actions[0].track_data.track_var:\n" VAR(
									     "__max", "1")
									     TYPE("u64", "8",
										  "0") "\n  save "
										       "action "
										       "variables "
										       "(save() "
										       "params):\n"
										       "\n    "
										       "hist_data->"
										       "save_vars["
										       "0]:\n"
										       "\n      "
										       "save_vars["
										       "0].var:"
										       "\n" VAR(
											       "id",
											       "2") "\n      save_vars[0].val:\n" FIELD("id")
											       TYPE("int",
												    "4",
												    "1") "\n    hist_data->save_vars[1]:\n"
													 "\n      save_vars[1].var:\n" VAR(
														 "name",
														 "3") "\n      save_vars[1].val:\n" FIELD("name")
														 TYPE("__data_loc char[]",
														      "256",
														      "0"));
	clear(LEAVE);
	assert_int_equal(echo("like u64 lat; int id", "synthetic_events"), 0);
	add(LEAVE,
	    "hist:keys=id:u=id:lat=time-harbour.ship_arrive.$t0:onmatch(harbour.ship_arrive)."
	    "like($lat,id):onchange($u).snapshot()");
	same(debug_from(LEAVE, "\n  variable reference fields"),
	     "\n  variable reference fields:\n"
	     "\n    hist_data->var_refs[0]:\n"
	     "      flags:\n        HIST_FIELD_FL_VAR_REF\n      name: t0\n"
	     "      var.idx (into tracing_map_elt.vars[]): 0\n      var.hist_data: A\n"
	     "      var_ref_idx (into hist_data->var_refs[]): 0\n"
	     "      system: harbour\n      event_name: ship_arrive\n" TYPE(
		     "u64", "8",
		     "0") "\n    hist_data->var_refs[1]:\n" REF("1", "lat", "1", "B", "u64", "8",
								"0") "\n    "
								     "hist_data->var_refs[2]:"
								     "\n" REF(
									     "2", "id", "2", "B",
									     "int", "4",
									     "0") "\n    "
										  "hist_data->"
										  "var_refs[3]:"
										  "\n" REF(
											  "3", "u",
											  "0", "B",
											  "in"
											  "t",
											  "4",
											  "1") "\n "
											       " fi"
											       "eld"
											       " va"
											       "ria"
											       "ble"
											       "s:"
											       "\n"
											       "\n "
											       "   "
											       "his"
											       "t_"
											       "dat"
											       "a->"
											       "fie"
											       "ld_"
											       "var"
											       "s["
											       "0]:"
											       "\n"
											       "\n "
											       "   "
											       "  "
											       "fie"
											       "ld_"
											       "var"
											       "s["
											       "0]."
											       "var"
											       ":"
											       "\n" VAR("id", "2") "\n      field_vars[0].val:\n" FIELD("id") TYPE(
												       "int",
												       "4",
												       "1") "\n  action tracking variables (for onmax()/onchange()/onmatch()):\n"
													    "\n    hist_data->actions[0].match_data.event_system: harbour\n"
													    "    hist_data->actions[0].match_data.event: ship_arrive\n"
													    "\n    hist_data->actions[1].track_data.var_ref:\n" REF(
														    "3",
														    "u",
														    "0",
														    "B",
														    "int",
														    "4",
														    "1") "\n    hist_data->actions[1].track_data.track_var:\n" VAR("__change",
																						   "3")
														    TYPE("u64",
															 "8",
															 "0"));
	clear(LEAVE);
	clear(ARRIVE);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
}

/* A field's own variable is none that is read; numbers and other names of variables are told as such. */
static void variables_consist_of(void **state)
{
	(void)state;
	add(LEAVE, "hist:keys=id:f=id:c=3*2:e=time+$c:a=$e:g=$f");
	same(debug_from(LEAVE, "\n    hist_data->fields[1]"),
	     "\n    hist_data->fields[1]:\n"
	     "      flags:\n        HIST_FIELD_FL_VAR\n" FIELD(
		     "id") "      var.name: f\n      var.idx (into tracing_map_elt.vars[]): "
			   "0\n" TYPE("int", "4",
				      "1") "\n    hist_data->fields[2]:\n"
					   "      flags:\n        HIST_FIELD_FL_VAR\n        "
					   "HIST_FIELD_FL_CONST\n"
					   "      var.name: c\n      var.idx (into "
					   "tracing_map_elt.vars[]): 1\n"
					   "      constant: 6\n" TYPE(
						   "u64", "8",
						   "0") "\n    hist_data->fields[3]:\n" VAR("e",
											    "2")
						   TYPE("u64", "8",
							"0") "\n    hist_data->fields[4]:\n"
							     "      flags:\n        "
							     "HIST_FIELD_FL_VAR\n        "
							     "HIST_FIELD_FL_ALIAS\n"
							     "      var.name: a\n      var.idx "
							     "(into tracing_map_elt.vars[]): 3\n"
							     "      var_ref_idx (into "
							     "hist_data->var_refs[]): 1\n" TYPE(
								     "u64",
								     "8", "0") "\n    "
									       "hist_data->fields["
									       "5]:\n"
									       "      flags:\n     "
									       "   "
									       "HIST_FIELD_FL_"
									       "VAR\n" FIELD("id") "      var.name: g\n      var.idx (into tracing_map_elt.vars[]): 4\n" TYPE(
										       "int", "4",
										       "1") "\n  "
											    "key "
											    "fields"
											    ":\n"
											    "\n    "
											    "hist_"
											    "data->"
											    "fields"
											    "[6]:\n"
											    "      "
											    "flags:"
											    "\n    "
											    "    "
											    "HIST_"
											    "FIELD_"
											    "FL_"
											    "KEY"
											    "\n" FIELD("id") TYPE(
												    "int",
												    "8",
												    "1") "\n  variable reference fields:\n"
													 "\n    hist_data->var_refs[0]:\n" REF(
														 "0",
														 "c",
														 "1",
														 "B",
														 "u64",
														 "8",
														 "0") "\n    hist_data->var_refs[1]:\n" REF("1",
																			    "e",
																			    "2",
																			    "B",
																			    "u64",
																			    "8",
																			    "0"));
	clear(LEAVE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, event_reset, hist_all_gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(its_program),
		TEST(numbers_are_folded),
		TEST(what_it_consists_of),
		TEST(variables_consist_of),
		/* Files of the synthetic event may stay for a while. */
		cmocka_unit_test_setup(actions_consist_of, event_reset),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
