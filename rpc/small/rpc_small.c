/* SPDX-License-Identifier: ISC */
/* Without the checks of skills there are no methods for them. */
#include "rpc/rpc_internal.h"

const struct rpc_module rpc_skill_module = { .nmethods = 0 };
