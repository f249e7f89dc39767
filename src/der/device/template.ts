/**
 * Layout, start image and ratings, shared by the devices of a profile; and the description from which a device is
 * created.
 */
import type { InverterParameters } from '../../contract/device.ts';
import type { Provenance } from '../../core/origin.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { defaultMapShape } from '../../contract/map-layout.ts';
import type { MapShape } from '../../contract/map-layout.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { SourceParameters } from '../../contract/kinds/table.ts';
import { mapChain, classicDefaults } from '../classic/chain.ts';
import { fewPointsIssues, listedChain, mapMetersOf, writeMeterTexts } from './listed-chain.ts';
import type { MapMeter } from './listed-chain.ts';
import { buildLayout } from '../../sunspec/map/layout.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { checkValue } from '../../sunspec/map/checks.ts';
import { createMapView, writePoint } from '../../sunspec/map/view.ts';
import type { MapView } from '../../sunspec/map/view.ts';
import { nominalLnV } from '../inverter/ac.ts';
import type { Wiring } from '../inverter/ac.ts';
import { defaultVarMaxAbs, settingsFromRatings, writeDefaults } from '../inverter/defaults.ts';
import { feederImpedance } from '../surroundings/grid/feeder.ts';
import type { FeederSpec } from '../surroundings/grid/feeder.ts';
import type { InverterRatings } from '../inverter/output.ts';
import { absorbShare, currentHeadroom, injectShare, modelChoices } from '../inverter/ratings.ts';
import type { Ratings } from '../inverter/ratings.ts';
import { readSettings, withGradient } from '../inverter/settings.ts';
import type { Settings } from '../inverter/settings.ts';
import { kindTraits } from './kinds.ts';
import type { KindTraits } from './kinds.ts';
import { simModels } from './sim-models.ts';
import { storageDefaults, storageModels } from './storage-map.ts';
import type { DeviceProtocols } from '../../contract/device-protocols.ts';
import type { Series } from '../surroundings/series.ts';
import type { VisitPlan } from '../surroundings/visits.ts';

/** A device profile with every default filled in; devices of one profile share one object. */
export interface ProfileSpec {
  readonly models: Readonly<Record<string, Readonly<Record<string, number | string>>>>;
  /** default: the default map */
  readonly map?: MapShape;
  readonly inverter: InverterParameters;
  readonly source: SourceParameters;
}

export interface DeviceTemplate extends KindTraits {
  readonly layout: Layout;
  /** start values; copied for each device */
  readonly image: Buffer;
  /** points set by the profile */
  readonly profilePoints: ReadonlyMap<PointSlot, Provenance>;
  readonly ratings: Ratings;
  readonly inverter: InverterParameters;
  /** settings of the start image; shared by devices until a write */
  readonly settings: Settings;
  /** meters in the map, in its order */
  readonly meters: readonly MapMeter[];
}

type Points = Readonly<Record<string, number | string>>;

function numberOf(points: Points, name: string): number | undefined {
  const value = points[name];
  return typeof value === 'number' ? value : undefined;
}

function categoryOf<T extends string>(value: number | string | undefined, names: readonly T[], fallback: T): T {
  if (typeof value === 'number') return names[value] ?? fallback;
  return names.find((name) => name === value) ?? fallback;
}

function ratingsOf(rated: Points, wiring: Wiring, nominalHz: number): Ratings {
  const wMaxW = numberOf(rated, 'WMaxRtg') ?? 10_000;
  const vaMaxVa = numberOf(rated, 'VAMaxRtg') ?? wMaxW;
  const vNomV = numberOf(rated, 'VNomRtg') ?? 480;
  const category = categoryOf(rated['NorOpCatRtg'], ['CAT_A', 'CAT_B'], 'CAT_B');
  return {
    wiring,
    wMaxW,
    vaMaxVa,
    vNomV,
    category,
    nominalHz,
    abnormal: categoryOf(rated['AbnOpCatRtg'], ['CAT_1', 'CAT_2', 'CAT_3'], 'CAT_3'),
    varInjectVar: numberOf(rated, 'VarMaxInjRtg') ?? injectShare * vaMaxVa,
    varAbsorbVar: numberOf(rated, 'VarMaxAbsRtg') ?? defaultVarMaxAbs(vaMaxVa, category),
    chargeMaxW: numberOf(rated, 'WChaRteMaxRtg') ?? null,
    dischargeMaxW: numberOf(rated, 'WDisChaRteMaxRtg') ?? null,
    aMaxA: numberOf(rated, 'AMaxRtg') ?? (currentHeadroom * vaMaxVa) / nominalLnV(wiring, vNomV),
  };
}

/** Ratings that limit each other: the first must not exceed (`max`) or be below (`min`) the other. */
const ratingOrder: readonly (readonly [string, 'max' | 'min', string | number])[] = [
  ['VMinRtg', 'max', 'VNomRtg'],
  ['VMaxRtg', 'min', 'VNomRtg'],
  ['VAMaxRtg', 'min', 'WMaxRtg'],
  ['WDisChaRteMaxRtg', 'max', 'WMaxRtg'],
  ['VADisChaRteMaxRtg', 'max', 'VAMaxRtg'],
  ['VarMaxInjRtg', 'max', 'VAMaxRtg'],
  ['VarMaxAbsRtg', 'max', 'VAMaxRtg'],
  ['WOvrExtRtg', 'max', 'WMaxRtg'],
  ['WUndExtRtg', 'max', 'WMaxRtg'],
  ['WOvrExtRtgPF', 'max', 1],
  ['WUndExtRtgPF', 'max', 1],
  ['PFOvrExtRtg', 'max', 1],
  ['PFUndExtRtg', 'max', 1],
];

function checkRatings(map: MapView, rated: Points, issues: Issue[]): void {
  const rating = map.m702 as Readonly<Record<string, unknown>>;
  for (const [name, sense, other] of ratingOrder) {
    const value = rating[name];
    const bound = typeof other === 'number' ? other : rating[other];
    if (!(name in rated) || typeof value !== 'number' || typeof bound !== 'number') continue;
    if (sense === 'max' ? value <= bound : value >= bound) continue;
    const limit = typeof other === 'number' ? `${other}` : `${other}, ${bound}`;
    issues.push({
      name: `models.702.${name}`,
      detail: `given ${value}; allowed: ${sense === 'max' ? 'up to' : 'from'} ${limit}`,
    });
  }
}

/** Points fixed by the shape of the map or by measurement. */
const fixedNames = new Set([
  'ID',
  'L',
  'DA',
  'NPt',
  'NCrv',
  'NCrvSet',
  'NCtl',
  'NPrt',
  'ReadOnly',
  'CtrlModes',
  'ACType',
]);

function nearPoint(layout: Layout, modelId: number, path: string): string {
  const place = layout.models.find(({ def }) => def.id === modelId);
  return didYouMean(path, place?.slots.map((slot) => slot.path) ?? []);
}

function profileIssue(layout: Layout, modelId: number, path: string): string | null {
  const slot = layout.slot(modelId, path);
  if (!slot) return `there is no such point${nearPoint(layout, modelId, path)}`;
  if (!slot.implemented) return 'this kind of device does not implement it';
  const fixed =
    fixedNames.has(slot.def.name) ||
    slot.def.type === 'sunssf' ||
    modelId === 701 ||
    modelId === 713 ||
    modelId === 714;
  if (modelId >= 64413) return 'it shows the surroundings and cannot be set at start';
  if (modelId === 802) return 'it follows from the battery block, where it can be set';
  return fixed ? 'it follows from the shape of the device and cannot be set' : null;
}

/** From this number of issues on no further value of a profile is read: a request body could cause thousands. */
const maxProfileIssues = 100;

/** Writes the start values that `only` selects; ratings come before settings, which follow from them by default. */
function applyProfile(
  layout: Layout,
  image: Buffer,
  models: ProfileSpec['models'],
  only: (path: string) => boolean,
  issues: Issue[],
): PointSlot[] {
  const writtenSlots: PointSlot[] = [];
  for (const [id, points] of Object.entries(models)) {
    for (const [path, value] of Object.entries(points)) {
      if (issues.length >= maxProfileIssues) return writtenSlots;
      if (!only(`${id}.${path}`)) continue;
      const name = `models.${id}.${path}`;
      const issue = profileIssue(layout, Number(id), path);
      const slot = layout.slot(Number(id), path);
      if (issue !== null || !slot) {
        issues.push({ name, detail: `given ${JSON.stringify(value)}; ${issue ?? 'there is no such point'}` });
        continue;
      }
      try {
        writePoint(layout, image, slot, value);
        writtenSlots.push(slot);
      } catch (error) {
        issues.push({ name, detail: error instanceof SimError ? error.message : String(error) });
      }
    }
  }
  return writtenSlots;
}

interface TemplateOptions {
  /** true: 64413 and 64414 follow the standard models; default false */
  readonly withSimModels?: boolean;
  /** true: 1.DA is implemented, and set per device; default false */
  readonly addressable?: boolean;
}

/**
 * Builds the shared part of the devices of a profile.
 * @throws SimError CONFIG_INVALID with the issues of the profile
 */
export function createTemplate(
  profile: ProfileSpec,
  wiring: Wiring,
  nominalHz: number,
  start: SimTime,
  wallMs: number,
  { withSimModels = false, addressable = false }: TemplateOptions = {},
): DeviceTemplate {
  const issues: Issue[] = [];
  const rated = profile.models['702'] ?? {};
  const ratings = ratingsOf(rated, wiring, nominalHz);
  const traits = kindTraits(profile.source, ratings.wMaxW, issues);
  if (!traits) throw unfit(issues);
  const { map: shape = defaultMapShape } = profile;
  const all = modelChoices(ratings, traits.portCount, storageModels(traits.storage), addressable);
  const facts = { ratings, ports: traits.portCount, twoWayPorts: traits.twoWayPorts, storage: traits.storage };
  const { chain } = shape;
  const standard = chain ? listedChain(chain, all, facts, issues) : mapChain(shape, all, facts, issues);
  const layout = buildLayout(
    withSimModels ? [...standard, ...simModels('pv' in profile.source)] : standard,
    shape.base,
  );
  const image = layout.blank();
  const map = createMapView(layout, image);
  writeDefaults(map, ratings);
  if (traits.storage) storageDefaults(map, traits.storage);
  const meters = mapMetersOf(layout, chain, ratings);
  writeMeterTexts(map, meters);
  const isRating = (name: string) => /^702\..*Rtg/.test(name);
  const ratingSlots = applyProfile(layout, image, profile.models, isRating, issues);
  checkRatings(map, rated, issues);
  settingsFromRatings(map);
  const settingSlots = applyProfile(layout, image, profile.models, (name) => !isRating(name), issues);
  classicDefaults(layout, image, map, traits);
  issues.push(...fewPointsIssues(layout, image, chain));
  for (const slot of settingSlots) if (slot.def.access === 'RW') checkProfileValue(layout, image, slot, issues);
  if (issues.length > 0) throw unfit(issues);
  const provenance: Provenance = { source: 'profile', at: start, wallMs };
  return {
    layout,
    image,
    ratings,
    inverter: profile.inverter,
    settings: withGradient(readSettings(map, profile.inverter.mayTrip), profile.inverter.gradient),
    ...traits,
    meters,
    profilePoints: new Map([...ratingSlots, ...settingSlots].map((slot) => [slot, provenance])),
  };
}

function unfit(issues: readonly Issue[]): SimError {
  return new SimError('CONFIG_INVALID', 'the device profile is not valid', issues);
}

function checkProfileValue(layout: Layout, image: Buffer, slot: PointSlot, issues: Issue[]): void {
  try {
    checkValue(layout, image, slot);
  } catch (error) {
    issues.push({
      name: `models.${slot.modelId}.${slot.path}`,
      detail: errorText(error),
    });
  }
}

/** @param vNomRtgV rated voltage as in the registers */
export function inverterRatings(
  template: DeviceTemplate,
  vNomRtgV: number | null,
  feeder: FeederSpec | null,
): InverterRatings {
  const { ratings, inverter, efficiencyNominal, generator, portCount, nightW = 0 } = template;
  return {
    wiring: ratings.wiring,
    wMaxRtgW: ratings.wMaxW,
    nominalHz: ratings.nominalHz,
    abnormal: ratings.abnormal,
    vNomRtgV: vNomRtgV ?? ratings.vNomV,
    efficiencyNominal,
    portCount,
    nightW,
    generator,
    parameters: inverter,
    vaMaxRtgVa: ratings.vaMaxVa,
    feeder: feeder && feederImpedance(feeder),
    capability: {
      wMaxRtgW: ratings.wMaxW,
      reducedAtLowPower: inverter.lowPowerVars === 'reduced',
      minInjectVar: injectShare * ratings.vaMaxVa,
      minAbsorbVar: absorbShare[ratings.category] * ratings.vaMaxVa,
    },
  };
}

/** Description of a device before it is created. */
export interface DeviceSpec extends DeviceProtocols {
  readonly name: string;
  readonly deviceType: string;
  readonly profileName: string | null;
  /** place where the user chose the profile, for messages; absent: position and name of the device */
  readonly profilePlace?: string;
  readonly phases: Wiring;
  /** devices of one profile share one object, and with it layout and start values */
  readonly profile: ProfileSpec;
  readonly series?: DeviceSeries;
}

/** Series that feed one device; devices may share the objects. */
export interface DeviceSeries {
  /** weather: irradiance for PV, wind at the anemometer for turbines; null: still air in the dark */
  readonly dc: { readonly series: Series; readonly name: string; readonly timeScale: number } | null;
  /** local load, column load_kw */
  readonly load: Series | null;
  /** vehicles that arrive and leave by a table */
  readonly visits: VisitPlan | null;
}
