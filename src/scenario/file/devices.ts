/** Compares the devices of a scenario with those of a simulator. */
import { z } from 'zod';
import type { Plant } from '../../contract/plant.ts';
import { memo } from '../../core/lazy.ts';
import { issueWords, withInput } from '../../core/zod-issues.ts';
import { placeText } from '../place.ts';
import { invalidScenario } from './source.ts';
import type { Source } from './source.ts';

/** Entries of the setting `devices`, reduced to type and number. */
const deviceEntries = memo(() =>
  z
    .array(z.looseObject({ device_type: z.string().optional(), count: z.int().min(1).max(10_000).optional() }))
    .optional(),
);

/** `2 x PV, EVSE` */
function typesText(types: readonly (readonly [type: string, count: number])[]): string {
  return types.map(([type, count]) => (count === 1 ? type : `${count} x ${type}`)).join(', ');
}

/** Why the devices of a plant differ from the setting `devices`. null: their types are equal. */
function mismatch(wanted: readonly (readonly [type: string, count: number])[], plant: Plant): string | null {
  const present = plant.devices.map(({ deviceType }) => deviceType);
  let end = 0;
  const fits = wanted.every(([type, count]) => {
    const types = present.slice(end, end + count);
    end += count;
    return types.length === count && (type === '' || types.every((each) => each === type));
  });
  if (fits) return null;
  const counts = present.reduce<[string, number][]>((list, type) => {
    const last = list.at(-1);
    if (last?.[0] === type) last[1] += 1;
    else list.push([type, 1]);
    return list;
  }, []);
  return `the scenario is for ${typesText(wanted)}, and the devices are ${typesText(counts)}; derbench run starts a simulator of its own`;
}

/**
 * Why the devices of a plant differ from those of a scenario. null: their types are equal.
 * @throws SimError CONFIG_INVALID for invalid entries
 */
export function deviceMismatch(
  source: Source,
  { devices }: Readonly<Record<string, unknown>>,
  plant: Plant,
): string | null {
  const result = deviceEntries().safeParse(devices, withInput);
  if (result.success)
    return mismatch(
      (result.data ?? []).map(({ device_type: type = '', count = 1 }) => [type, count]),
      plant,
    );
  const words = result.error.issues.flatMap((issue) => issueWords(issue, 'a member of a device'));
  throw invalidScenario(
    words.map(({ path, detail }) => ({ name: placeText(source.place(['config', 'devices', ...path])), detail })),
  );
}
