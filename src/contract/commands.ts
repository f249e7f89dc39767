import type { Gradient } from './gradient.ts';
import type { SourceCommand } from './kinds/table.ts';

/**
 * A change of state that no register holds: carried out whole or not at all, with the same provenance as a register
 * write.
 */
export type DeviceCommand =
  | SourceCommand
  /** the disconnect switch: opModConnect, DNP3 connect, operator stop */
  | { readonly kind: 'switch'; readonly closed: boolean }
  /** permits service and closes the switch (operator start) */
  | { readonly kind: 'start' }
  /** ends service, ramps to zero, opens (operator stop) */
  | { readonly kind: 'stop' }
  /** the local/remote switch at the device: local refuses every write and command from afar */
  | { readonly kind: 'local'; readonly local: boolean }
  /**
   * slopes of commands in the place of 704.WRmp and VarRmp, within `gradientRange`; null ends one, an absent one stays.
   * A later write to the register ends it too.
   */
  | ({ readonly kind: 'gradient' } & Partial<Gradient>)
  /** clears latched alarms; `device` also ends overrides and reloads the start values */
  | { readonly kind: 'reset'; readonly scope: 'alarms' | 'device' };
