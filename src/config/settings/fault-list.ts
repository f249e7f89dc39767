/** Lists of faults in a configuration: sets by name or path, and faults as they stand. */
import { z } from 'zod';
import { maxFaultsAtOnce } from '../../fault-kinds/profile.ts';
import { faultSchema } from '../../fault-kinds/request.ts';
import type { FlatFault } from '../../fault-kinds/request.ts';

const entrySchema = z.union([z.string().min(1).max(4096), faultSchema], {
  error: 'the name of a bundled set, a path, or a fault as a mapping',
});
/** As it stands in a file. */
export const faultListSchema = z.array(entrySchema).max(maxFaultsAtOnce);
export type FaultList = z.infer<typeof faultListSchema>;

/** Faults that belong together. */
export interface FaultGroup {
  /** name of the set; null: faults that stand in the configuration itself */
  readonly profile: string | null;
  readonly faults: readonly FlatFault[];
  /** where each of them stands, for messages: `fleet.yaml: faults[2]` */
  readonly places: readonly string[];
}
