/* SPDX-License-Identifier: ISC */
/* Without the page there are no HTML reports. */
#include "report/report_internal.h"

const struct report_kind report_html = {
	.name = "html:PATH", .path = true, .left_out = true
};
const struct report_kind report_view = { .left_out = true };
