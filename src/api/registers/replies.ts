/** Models and points of a bank as REST shows them. */
import { SimError } from '../../core/errors.ts';
import { givenText, suggestions } from '../../core/nearest.ts';
import type { Plant } from '../../contract/plant.ts';
import type { PointBank } from '../../sunspec/map/bank.ts';
import type { ModelPlace, PointSlot } from '../../sunspec/map/layout.ts';
import { emptyName } from '../common/list-param.ts';
import { enumNumber } from '../common/points.ts';
import { isoOrNull } from '../common/schemas.ts';
import { invalidAll } from '../http/errors.ts';
import type { RegisterPointReply } from './schemas.ts';

/** @param who in the message: `Device 0` @throws SimError UNKNOWN_RESOURCE */
export function modelOf({ layout }: PointBank, id: number, who: string): ModelPlace {
  const place = layout.models.find(({ def }) => def.id === id);
  if (!place) {
    const ids = layout.models.map(({ def }) => def.id).join(', ');
    throw new SimError('UNKNOWN_RESOURCE', `${who} does not serve model ${id}; it serves ${ids}.`);
  }
  return place;
}

function pointReply(plant: Plant, bank: PointBank, slot: PointSlot, raw: boolean): RegisterPointReply {
  const { def } = slot;
  const value = bank.value(slot);
  const isEnum = def.symbols !== undefined && def.type.startsWith('enum');
  const writer = bank.provenance(slot);
  return {
    name: slot.path,
    label: def.label,
    type: def.type,
    address: slot.address,
    size: def.size,
    ...(raw && { raw: bank.raw(slot) }),
    value: isEnum ? enumNumber(slot, value) : value,
    scale_factor: def.sf === undefined ? null : slot.sf,
    unit: def.units ?? null,
    ...(isEnum && { symbol: typeof value === 'string' ? value : null }),
    implemented: slot.implemented,
    access: slot.writable ? 'RW' : 'R',
    source: writer?.source ?? 'default',
    source_detail: writer?.peer ?? null,
    changed_at: isoOrNull(writer && plant.dateMs(writer.at)),
  };
}

/** `suggestions` for points of one model: a point inside a group, and what stands in a group, are named with its index. */
export function pointSuggestions(place: ModelPlace): (given: string) => string {
  const near = suggestions(() => pathsOf(place));
  return (given) => {
    const inside = pathsOf(place).find((path) => path.endsWith(`].${given}`));
    if (inside !== undefined) return `; did you mean ${inside}?`;
    const member = pathsOf(place).find((path) => path.startsWith(`${given}[`));
    return member === undefined ? near(given) : `; it is a group, with points such as ${member}`;
  };
}

/**
 * Slots of the model that an answer shows.
 * @param points paths that the query selects; without them every slot
 * @throws HttpProblem `validation` with every path that the model does not have
 */
export function shownSlots(
  { layout }: PointBank,
  place: ModelPlace,
  points: readonly string[] | undefined,
): readonly PointSlot[] {
  if (!points) return place.slots;
  const unknown = points.filter((path) => !layout.slot(place.def.id, path));
  if (unknown.length > 0) {
    const near = pointSuggestions(place);
    throw invalidAll(
      unknown.map((path) => ({
        in: 'query',
        name: 'points',
        detail: path === '' ? emptyName : `model ${place.def.id} has no point ${givenText(path)}${near(path)}`,
      })),
    );
  }
  const shown = new Set(points);
  return place.slots.filter(({ path }) => shown.has(path));
}

export function modelReply(plant: Plant, bank: PointBank, place: ModelPlace, slots: readonly PointSlot[], raw = false) {
  return {
    id: place.def.id,
    name: place.def.name,
    address: place.address,
    length: place.length,
    points: slots.map((slot) => pointReply(plant, bank, slot, raw)),
  };
}

const pathsOf = ({ slots }: ModelPlace) => slots.map(({ path }) => path);

/** The models of a map in their order. */
export function modelList({ layout }: PointBank) {
  return layout.models.map(({ def, address, length, hidden }) => ({
    id: def.id,
    name: def.name,
    label: def.label,
    address,
    length,
    ...(hidden && { hidden }),
  }));
}
