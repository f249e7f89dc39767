/** Compares the `config` of a scenario with the running simulator, which takes none of it over. */
import { z } from 'zod';
import { addedDeviceSchema } from '../../config/profile/device-entry.ts';
import { deviceTypeAliases } from '../../config/profile/device-types.ts';
import type { AppConfig } from '../../config/settings/app-config.ts';
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { SimError } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { simTimeFromMs } from '../../core/time/clock.ts';
import { issueWords, withInput } from '../../core/zod-issues.ts';
import { createTemplate } from '../../der/device/template.ts';
import type { DeviceTemplate } from '../../der/device/template.ts';
import { readPoint } from '../../sunspec/map/view.ts';

/** The settings of the running simulator that a scenario may require. */
export type RunningConfig = Pick<AppConfig, 'deviceOf' | 'irradianceSource' | 'clouds' | 'grid'>;

/** Entries of the setting `devices`, reduced to type and number. */
const deviceEntries = memo(() =>
  z
    .array(z.looseObject({ device_type: z.string().optional(), count: z.int().min(1).max(10_000).optional() }))
    .optional(),
);

type Entries = NonNullable<z.output<ReturnType<typeof deviceEntries>>>;
type Counted = readonly (readonly [type: string, count: number])[];

const typeOf = (name: string): string => deviceTypeAliases[name] ?? name;

/** `2 x PV-3Phase, EVSE` */
function typesText(types: Counted): string {
  return types.map(([type, count]) => (count === 1 ? type : `${count} x ${type}`)).join(', ');
}

/** The reason why the types of the devices differ from those of the entries. null: they are equal. */
function typeMisfit(entries: Entries, plant: Plant): string | null {
  const required = entries.map(({ device_type: type = '', count = 1 }) => [typeOf(type), count] as const);
  const present = plant.devices.map(({ deviceType }) => typeOf(deviceType));
  let end = 0;
  const fits = required.every(([type, count]) => {
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
  return `the scenario is for ${typesText(required)}, and the devices are ${typesText(counts)}`;
}

/** The device of an entry as the scenario's own simulator starts it. null: it names no profile, or a file. */
function templateOf(entry: Entries[number], deviceOf: AppConfig['deviceOf'], hz: number): DeviceTemplate | null {
  if (entry['profile'] === undefined && entry['evse_profile'] === undefined) return null;
  const parsed = addedDeviceSchema.safeParse({
    device_type: entry.device_type,
    profile: entry['profile'],
    evse_profile: entry['evse_profile'],
  });
  if (!parsed.success) return null;
  try {
    const { device_type: type, profile: given, evse_profile: ofStation } = parsed.data;
    const { profile, phases } = deviceOf({ device_type: type, profile: given, evse_profile: ofStation }, 0);
    return createTemplate(profile, phases, hz, simTimeFromMs(0), 0);
  } catch (error) {
    if (error instanceof SimError && error.code === 'CONFIG_INVALID') return null;
    throw error;
  }
}

/** The reasons why a device has not the models and ratings of an entry. */
function ratingMisfits({ index, bank }: Device, { layout, image }: DeviceTemplate): readonly string[] {
  const absent = layout.models
    .map(({ def }) => def.id)
    .filter((id) => !bank.layout.models.some(({ def }) => def.id === id));
  if (absent.length > 0) return [`device ${index} has no model ${absent.join(', ')}`];
  return layout.slots
    .filter(({ modelId, path }) => modelId === 702 && /Rtg/.test(path))
    .flatMap((slot) => {
      const present = bank.layout.slot(slot.modelId, slot.path);
      const [needed, value] = [readPoint(layout, image, slot), present ? bank.value(present) : null];
      return needed === null || needed === value
        ? []
        : [`702.${slot.path} of device ${index} is ${String(value)}, and the scenario is for ${String(needed)}`];
    });
}

function* devicesMisfits(entries: Entries, plant: Plant, { deviceOf, grid }: RunningConfig): Generator<string> {
  const templates = new Map<string, DeviceTemplate | null>();
  let position = 0;
  for (const entry of entries) {
    const { count = 1, ...rest } = entry;
    const key = JSON.stringify(rest);
    const template = templates.get(key) ?? templateOf(entry, deviceOf, grid.nominalFrequencyHz);
    templates.set(key, template);
    for (const device of plant.devices.slice(position, position + count))
      if (template !== null) yield* ratingMisfits(device, template);
    position += count;
  }
}

const gridBlock = z.looseObject({
  nominal_frequency_hz: z.number().optional(),
  feeder: z.looseObject({ short_circuit_ratio: z.number(), x_over_r: z.number() }).optional(),
});

type Feeder = AppConfig['grid']['feeder'];
const feederText = (feeder: Feeder) =>
  feeder === null ? 'no line' : `a line of short_circuit_ratio ${feeder.scr} and x_over_r ${feeder.xOverR}`;

function* gridMisfits(given: unknown, grid: AppConfig['grid']): Generator<string> {
  const block = gridBlock.safeParse(given);
  if (!block.success) return;
  const { nominal_frequency_hz: hz, feeder: line } = block.data;
  if (hz !== undefined && hz !== grid.nominalFrequencyHz)
    yield `the grid has ${grid.nominalFrequencyHz} Hz, and the scenario is for ${hz} Hz`;
  const feeder = line ? { scr: line.short_circuit_ratio, xOverR: line.x_over_r } : null;
  if (feederText(feeder) !== feederText(grid.feeder))
    yield `devices have ${feederText(grid.feeder)} to the grid, and the scenario is for ${feederText(feeder)}`;
}

function* skyMisfits(
  { irradiance_source: source, clouds }: Readonly<Record<string, unknown>>,
  running: RunningConfig,
): Generator<string> {
  if (source !== undefined && source !== running.irradianceSource)
    yield `irradiance_source is ${running.irradianceSource}, and the scenario is for ${JSON.stringify(source)}`;
  if (clouds !== undefined && clouds !== running.clouds)
    yield `clouds is ${running.clouds}, and the scenario is for ${JSON.stringify(clouds)}`;
}

const maxMisfits = 20;

/**
 * All reasons why the running simulator is not the one of a scenario; only what its `config` names is compared.
 * @param invalid makes the error of entries that are invalid, from paths below `devices`
 */
export function misfits(
  config: Readonly<Record<string, unknown>>,
  plant: Plant,
  running: RunningConfig,
  invalid: (issues: readonly { readonly path: readonly PropertyKey[]; readonly detail: string }[]) => Error,
): readonly string[] {
  const parsed = deviceEntries().safeParse(config['devices'], withInput);
  if (!parsed.success) throw invalid(parsed.error.issues.flatMap((issue) => issueWords(issue, 'a member of a device')));
  const entries = parsed.data ?? [];
  const type = typeMisfit(entries, plant);
  const others = [
    ...(type === null ? devicesMisfits(entries, plant, running) : [type]),
    ...gridMisfits(config['grid'], running.grid),
    ...skyMisfits(config, running),
  ];
  const more = others.length - maxMisfits;
  return more > 0 ? [...others.slice(0, maxMisfits), `${more} more`] : others;
}
