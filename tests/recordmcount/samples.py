"""Sources that the tests share."""

# Static, weak, cold and init functions; a function split by the compiler; calls between sections.
MIXED = """
void external(void);
static int __attribute__((noinline)) local(int a) { external(); return a + 1; }
int __attribute__((weak)) weakly(int a) { return local(a) * 2; }
int __attribute__((section(".init.text"))) starting(int a) { external(); return local(a); }
int __attribute__((cold)) seldom(int a) { external(); return local(a); }
__attribute__((no_instrument_function)) int untraced(int a) { external(); return a; }
int mixed(int a)
{
    if (__builtin_expect(a > 4, 0)) { seldom(a); external(); }
    return weakly(a) + starting(a);
}
"""
MIXED_SITES = {"local", "weakly", "starting", "seldom", "mixed", "external"}

EXTERNAL = 'void external(void) { __asm__ volatile(""); }\n'
