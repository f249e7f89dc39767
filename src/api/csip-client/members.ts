/** Building blocks of the schemas of `csip`. */
import { exampleTime, isoTime } from '../common/schemas.ts';
import { z } from '../description/zod.ts';

export const text = (description: string) => z.string().openapi({ description });
export const textOrNull = (description: string) => z.string().nullable().openapi({ description });
export const flag = (description: string) => z.boolean().openapi({ description });
export const number = (description: string) => z.number().openapi({ description });
export const numberOrNull = (description: string) => z.number().nullable().openapi({ description });
export const count = (description: string) => z.int().min(0).openapi({ description });
export const integer = (description: string) => z.int().openapi({ description });
export const integerOrNull = (description: string) => z.int().nullable().openapi({ description });
export const time = (description: string) => isoTime.openapi({ description, example: exampleTime });
export const timeOrNull = (description: string) => isoTime.nullable().openapi({ description, example: exampleTime });

/** Members by names that the schema does not list. */
export const json = (description: string) => z.record(z.string(), z.unknown()).openapi({ description });

export const byServer = 'by the clock of the server';

export const deviceIndices = z
  .array(z.int().min(0))
  .openapi({ description: 'Devices of this process that it concerns, by index.' });

export const lfdi = text('LFDI of the EndDevice: 40 hexadecimal digits.');
export const mrid = text('mRID in upper-case hexadecimal digits.');
