/**
 * The chain of models that a profile lists: models of the device in any order, with other sizes of their curves, and
 * meters of the site, each behind a common block of its own.
 */
import { chainMeterModels, chainSizes } from '../../contract/map-layout.ts';
import type { ChainEntry, ChainMeter, ChainMeterModel, ChainModel } from '../../contract/map-layout.ts';
import type { Issue } from '../../core/errors.ts';
import type { Layout, ModelChoice, ModelPlace } from '../../sunspec/map/layout.ts';
import type { PointBank } from '../../sunspec/map/bank.ts';
import { readPoint } from '../../sunspec/map/view.ts';
import type { MapView, MeasurementView, WritableMapView } from '../../sunspec/map/view.ts';
import { m1 } from '../../sunspec/models/m001.ts';
import { classicModels, hide } from '../classic/chain.ts';
import type { ClassicFacts, InverterForms } from '../classic/chain.ts';
import { nominalLnV, nominalV, wirings } from '../inverter/ac.ts';
import type { Ratings } from '../inverter/ratings.ts';
import { isClassicModel } from '../../sunspec/map/layout.ts';
import type { MeterFaceOptions } from '../site/meter-face.ts';
import { meterChoices, meterIdentity, pointsOf, powerRoom } from '../site/meter-registers.ts';
import type { MeterShape } from '../site/meter-registers.ts';

/** Points that count the sets of curve and control models. */
const setCounts = ['NCrv', 'NCrvSet', 'NCtl'] as const;
const pointCount = 'NPt';

/** Maximum power in the registers of a meter in the map of a device, as a multiple of the rating of the device. */
const meterRoom = 10;

const isMeter = (entry: ChainEntry): entry is ChainMeter => 'meter' in entry;
const isMeterId = (id: number): id is ChainMeterModel => (chainMeterModels as readonly number[]).includes(id);
const issueAt = (at: number, member: string, detail: string): Issue => ({ name: `chain[${at}]${member}`, detail });

/** The shape of a meter in the map of a device, from the device alone: it does not know the rest of the site. */
function meterShape(model: ChainMeterModel, { wiring, vNomV, wMaxW, vaMaxVa }: Ratings): MeterShape {
  const meterWiring = wirings[(model % 10) - 1] ?? 'three';
  return {
    wiring: meterWiring,
    float: model > 210,
    vNomV: nominalV(meterWiring, nominalLnV(wiring, vNomV)),
    ratedVa: (meterRoom / powerRoom) * Math.max(wMaxW, vaMaxVa),
  };
}

/** The forms of the inverter model in a list; without one the integer form, which the map then hides. */
function formsIn(models: ReadonlySet<number>): InverterForms {
  const has = (from: number) => [from + 1, from + 2, from + 3].some((id) => models.has(id));
  return has(110) ? (has(100) ? ['integer', 'float'] : ['float']) : ['integer'];
}

/** The models of a device by number, without model 1. Classic ones only where the list has any. */
function modelsOf(
  listed: ReadonlySet<number>,
  others: readonly ModelChoice[],
  facts: ClassicFacts,
): ReadonlyMap<number, ModelChoice> {
  const hasClassic = [...listed].some(isClassicModel);
  const classic = hasClassic ? classicModels(formsIn(listed), facts, others) : [];
  return new Map([...classic, ...others].map((choice) => [choice.def.id, choice]));
}

/** The numbers that a list may have. */
function allowedModels(others: readonly ModelChoice[], facts: ClassicFacts): string {
  const classic = classicModels(['integer', 'float'], facts, others);
  return [m1.id, ...[...classic, ...others].map(({ def: { id } }) => id)].join(', ');
}

/** A model with the sizes that its entry gives. */
function sized(
  choice: ModelChoice,
  { model, curves, points }: ChainModel,
  at: number,
  others: readonly ModelChoice[],
  issues: Issue[],
): ModelChoice {
  const { counts = {} } = choice;
  const setCount = setCounts.find((name) => name in counts);
  const withCount = (names: readonly string[]) =>
    others.filter((other) => names.some((name) => name in (other.counts ?? {}))).map(({ def: { id } }) => id);
  if (curves !== undefined && setCount === undefined) {
    const allowed = withCount(setCounts).join(', ');
    issues.push(issueAt(at, '.curves', `given ${curves}, but model ${model} has no curves; allowed: on ${allowed}`));
  }
  if (points !== undefined && !(pointCount in counts)) {
    const allowed = withCount([pointCount]).join(', ');
    issues.push(
      issueAt(at, '.points', `given ${points}, but model ${model} has no curve points; allowed: on ${allowed}`),
    );
  }
  return {
    ...choice,
    counts: {
      ...counts,
      ...(curves !== undefined && setCount !== undefined && { [setCount]: curves }),
      ...(points !== undefined && pointCount in counts && { [pointCount]: points }),
    },
  };
}

/**
 * The models of a device as a profile lists them. Those that it leaves out are hidden.
 * @param others models of the current generation without 1, which is `common`
 * @param issues receives an issue for each entry that is not allowed
 */
export function listedChain(
  chain: readonly ChainEntry[],
  [common, ...others]: readonly [ModelChoice, ...ModelChoice[]],
  facts: ClassicFacts,
  issues: Issue[],
): readonly ModelChoice[] {
  const listed = new Set(chain.flatMap((entry) => (isMeter(entry) ? [] : [entry.model])));
  const models = modelsOf(listed, others, facts);
  const positions = new Map<number, number>();
  const shown = chain.flatMap((entry, at): readonly ModelChoice[] => {
    if (isMeter(entry)) return meterChoices(meterShape(entry.meter, facts.ratings));
    const { model } = entry;
    const first = positions.get(model);
    const choice = models.get(model);
    if (model === common.def.id) {
      if (at > 0) issues.push(issueAt(at, '', 'given 1 behind other models; a meter has its own; allowed: in front'));
      else sized(common, entry, at, others, issues);
      return [];
    }
    if (first !== undefined) {
      issues.push(issueAt(at, '', `given ${model}, which chain[${first}] is already; allowed: each model once`));
      return [];
    }
    positions.set(model, at);
    if (choice !== undefined) return [sized(choice, entry, at, others, issues)];
    const asMeter = isMeterId(model) ? `; a meter is { meter: ${model} }` : '';
    issues.push(issueAt(at, '', `given ${model}; allowed for this device: ${allowedModels(others, facts)}${asMeter}`));
    return [];
  });
  const hidden = [...models.values()].filter(({ def: { id } }) => !listed.has(id));
  return [common, ...shown, ...hidden.map(hide)];
}

/** Issues of models whose curves have room for fewer points than are in use. @param image all start values */
export function fewPointsIssues(layout: Layout, image: Buffer, chain: readonly ChainEntry[] = []): readonly Issue[] {
  return chain.flatMap((entry, at) => {
    if (isMeter(entry) || entry.points === undefined) return [];
    const place = layout.models.find(({ def: { id } }) => id === entry.model);
    const used = (place?.slots ?? []).filter(({ def: { name } }) => name === 'ActPt');
    const counts = used.map((slot) => Number(readPoint(layout, image, slot)));
    const minPoints = Math.max(0, ...counts);
    if (entry.points >= minPoints) return [];
    const fullest = used[counts.indexOf(minPoints)];
    const where = fullest ? `${entry.model}.${fullest.path}` : '';
    return [
      issueAt(
        at,
        '.points',
        `given ${entry.points}; allowed: from ${minPoints}, as ${where} is at start, to ${chainSizes.points.max}`,
      ),
    ];
  });
}

/** A meter in the map of a device. */
export interface MapMeter {
  /** name of the model: `203`, or `203:2` at its second place */
  readonly name: string;
  /** name of its common block: `1:2` */
  readonly common: string;
  readonly entry: ChainMeter;
  readonly shape: MeterShape;
}

/** The meters in a map, in its order. */
export function mapMetersOf(
  { models }: Layout,
  chain: readonly ChainEntry[] = [],
  ratings: Ratings,
): readonly MapMeter[] {
  const places = models.flatMap((place, at): (readonly [ModelPlace | undefined, ModelPlace])[] =>
    isMeterId(place.def.id) ? [[models[at - 1], place]] : [],
  );
  return chain.filter(isMeter).flatMap((entry, i) => {
    const [common, place] = places[i] ?? [];
    if (common === undefined || place === undefined) return [];
    return [{ name: place.name, common: common.name, entry, shape: meterShape(entry.meter, ratings) }];
  });
}

/** The common block of a name, whose type is that of the first. */
export function commonOf<M extends MeasurementView | WritableMapView>(map: M, name: string): M['m1'] {
  return (map as unknown as Readonly<Record<string, M['m1']>>)[`m${name}`] ?? map.m1;
}

/** Writes the common blocks of meters into a fresh image, without the version, which is that of the simulator. */
export function writeMeterTexts(map: WritableMapView, meters: readonly MapMeter[]): void {
  for (const { common, entry } of meters) {
    const { Mn, Md, Opt, SN } = meterIdentity(entry.of, '');
    const { maker = Mn, modelName = Md, serial = SN } = entry;
    Object.assign(commonOf(map, common), { Mn: maker, Md: modelName, Opt, SN: serial });
  }
}

/** The meters of a map with their points in the bank of a device. */
export function meterFaces(
  meters: readonly MapMeter[],
  { layout, measurements }: Pick<PointBank, 'layout'> & { readonly measurements: MapView },
): readonly MeterFaceOptions[] {
  return meters.map(({ name, entry, shape }) => ({
    of: entry.of,
    shape,
    points: pointsOf(measurements, name),
    energySf: layout.named(`${name}.TotWhExp`)?.sf ?? 0,
  }));
}
