# In: BUILD as it was typed, relative or absolute. Out: BUILD with one spelling of each directory:
# relative for one in this tree, absolute for others; in_tree, which does the same for other
# variables.
#
# A list of dependencies (.d) names its object as the rule did that made it. Written in another way the object would have
# no list, and would stay as it is when a header changes.
in_tree = $(patsubst $(CURDIR)/%,%,$(abspath $1))
override BUILD := $(call in_tree,$(BUILD))

# A goal may be typed that way, too.
$(foreach goal,$(filter $(CURDIR)/%,$(MAKECMDGOALS)),$(eval $(goal): $(call in_tree,$(goal)) ;))

# In a recipe: the target's folder is there from here on. Make remembers those that it has made, so that a process is started
# for each folder and not for each object.
folder = $(if $($(@D)/made),,$(shell mkdir -p $(@D))$(eval $(@D)/made := 1))
