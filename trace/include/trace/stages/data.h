/*
 * For the functions of text.h and probe.h: where the text or array of a field of __entry is. See
 * <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#define __get_dynamic_array(item)                                                                  \
	((void *)((char *)__entry + (__entry->__data_loc_##item & 0xffff)))
#define __get_dynamic_array_len(item) (__entry->__data_loc_##item >> 16)
#define __get_str(item)		      ((char *)__get_dynamic_array(item))
#define __get_sockaddr(item)	      ((struct sockaddr *)__get_dynamic_array(item))

#define __get_rel_dynamic_array(item)                                                              \
	((void *)((char *)&__entry->__rel_loc_##item + 4 + (__entry->__rel_loc_##item & 0xffff)))
#define __get_rel_dynamic_array_len(item) (__entry->__rel_loc_##item >> 16)
#define __get_rel_str(item)		  ((char *)__get_rel_dynamic_array(item))
#define __get_rel_sockaddr(item)	  ((struct sockaddr *)__get_rel_dynamic_array(item))
