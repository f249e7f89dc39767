/** A set of faults under a name: the behaviour of one broken device. */
import { z } from 'zod';
import { faultSchema } from './request.ts';
import type { FlatFault } from './request.ts';

/** Faults that one file or request may hold. */
export const maxFaultsAtOnce = 100;

/** As it stands in a file. */
export const faultProfileSchema = z.strictObject({
  title: z.string().min(1).max(100).meta({ description: 'What the device does, in a few words.' }),
  description: z.string().min(1).max(2000).meta({ description: 'What is seen of it in the field.' }),
  faults: z
    .array(faultSchema)
    .min(1)
    .max(maxFaultsAtOnce)
    .meta({ description: 'Its faults, in the order in which they begin.' }),
});

export interface FaultProfile {
  /** as `--faults` takes it */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly faults: readonly FlatFault[];
}
