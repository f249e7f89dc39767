/** Settings of a device that differ from its start. */
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import type { Provenance } from '../../core/origin.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { pointName } from '../../sunspec/map/view.ts';
import { enumNumber } from '../common/points.ts';
import { isFromClient, writerReply } from '../common/writer-replies.ts';
import type { RegisterChangeReply } from './change-schemas.ts';

/** The model of the surroundings: they move by themselves, and `controls/grid` and `controls/environment` show their writers. */
const surroundingsId = 64414;

/** Value as `registers/{model_id}` shows it. */
function shown(slot: PointSlot, isEnum: boolean, value: AnyPointValue): AnyPointValue {
  return isEnum ? enumNumber(slot, value) : value;
}

const symbolOf = (value: AnyPointValue) => (typeof value === 'string' ? value : null);

function changeReply(
  plant: Plant,
  slot: PointSlot,
  [start, value]: readonly [start: AnyPointValue, value: AnyPointValue],
  writer: Provenance | undefined,
): RegisterChangeReply {
  const { def } = slot;
  const isEnum = def.symbols !== undefined && def.type.startsWith('enum');
  return {
    point: pointName(slot),
    label: def.label,
    address: slot.address,
    unit: def.units ?? null,
    start_value: shown(slot, isEnum, start),
    value: shown(slot, isEnum, value),
    ...(isEnum && { start_symbol: symbolOf(start), symbol: symbolOf(value) }),
    changed_by: writer && isFromClient(writer) ? writerReply(plant, writer) : null,
  };
}

/** Every implemented RW point, set 1 of the curve models included, whose value is not that of the start; in map order. */
export function changeReplies(plant: Plant, { bank }: Device): RegisterChangeReply[] {
  return bank.layout.slots.flatMap((slot) => {
    if (slot.def.access !== 'RW' || !slot.implemented || slot.modelId === surroundingsId) return [];
    const [start, value] = [bank.startValue(slot), bank.value(slot)];
    return start === value ? [] : [changeReply(plant, slot, [start, value], bank.provenance(slot))];
  });
}
