/** A named set of faults: the behaviour of one broken device. */
import { z } from 'zod';
import { faultSchema } from './request.ts';
import type { FlatFault } from './request.ts';

/** Maximum number of faults in a file or request. */
export const maxFaultsAtOnce = 100;

/** A fault profile as a file. */
export const faultProfileSchema = z.strictObject({
  title: z.string().min(1).max(100).meta({ description: 'Behaviour of the device, in a few words.' }),
  description: z.string().min(1).max(2000).meta({ description: 'How the device appears in the field.' }),
  faults: z
    .array(faultSchema)
    .min(1)
    .max(maxFaultsAtOnce)
    .meta({ description: 'Its faults, in the order in which they begin.' }),
});

export interface FaultProfile {
  /** name for `--faults` */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly faults: readonly FlatFault[];
}
