/*
 * fs/boot.h - a machine from power-on to power-off.
 *
 * Mirrors    init/main.c start_kernel(): brings up what the floors below offer.
 * Owner      machine_boot() gives the machine to the caller; every super block mounted on it must
 *            be unmounted before machine_shutdown().
 * Errors     -EINVAL with a sentence for a person, -ENOMEM.
 */
#ifndef FL_FS_BOOT_H
#define FL_FS_BOOT_H

#include "machine/machine.h"

int machine_boot(const struct machine_config *config, struct machine **ret, struct fl_error *err);
/* NULL is fine. */
void machine_shutdown(struct machine *m);

#endif
