/** The blocks of physical parameters that a device profile may have. */
import { z } from 'zod';
import type { AssetType } from '../../contract/device.ts';
import { batterySchema } from './blocks/battery.ts';
import { evseSchema } from './blocks/evse.ts';
import { fuelCellSchema } from './blocks/fuel-cell.ts';
import { hybridSchema } from './blocks/hybrid.ts';
import { pvSchema } from './blocks/pv.ts';
import { windSchema } from './blocks/wind.ts';

export const kindBlocksSchema = z.strictObject({
  pv: pvSchema.optional(),
  battery: batterySchema.optional(),
  wind: windSchema.optional(),
  fuel_cell: fuelCellSchema.optional(),
  hybrid: hybridSchema.optional(),
  evse: evseSchema.optional(),
});

export type KindBlocks = z.infer<typeof kindBlocksSchema>;
export type BlockName = keyof KindBlocks;

export const blockNames = Object.keys(kindBlocksSchema.shape) as BlockName[];

/** Kinds of devices that a block belongs to. */
export const kindsOfBlock: Readonly<Record<BlockName, readonly AssetType[]>> = {
  pv: ['pv', 'hybrid-dc'],
  battery: ['battery', 'hybrid-dc'],
  wind: ['wind'],
  fuel_cell: ['fuelcell'],
  hybrid: ['hybrid-dc'],
  evse: ['evse'],
};
