/** Writes of peers to the registers, for the timeline: those that change a value. */
import type { Device } from '../../contract/device.ts';
import type { Source } from '../../core/origin.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import type { Change } from '../../sunspec/map/bank.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { pointName } from '../../sunspec/map/view.ts';
import { followDevices } from './follow-devices.ts';
import { requestAtHand } from './messages.ts';
import type { Messages } from './messages.ts';
import type { SimPlant } from '../../der/plant/plant.ts';

/** Sources whose writes no request tells. */
const toldSources: ReadonlySet<Source> = new Set(['modbus', 'csip', 'ocpp', 'dnp3', 'reversion']);

/** Points that a master writes once per second. */
const isRoutine = ({ modelId, path }: PointSlot) => modelId === 715 && path === 'ControllerHb';

/** Model of the surroundings. */
const surroundingsModel = 64414;

const maxNamed = 3;

function valueText({ bank }: Pick<Device, 'bank'>, slot: PointSlot): string {
  const value = bank.value(slot);
  if (value === null) return 'not implemented';
  const { units } = slot.def;
  const unit = units === undefined || typeof value === 'string' ? '' : ` ${units}`;
  return `${typeof value === 'object' ? JSON.stringify(value) : String(value)}${unit}`;
}

function pointText(device: Pick<Device, 'bank'>, slot: PointSlot): string {
  return `${slot.def.label} (${pointName(slot)}) to ${valueText(device, slot)}`;
}

/** `Set a to 1, b to 2 and 3 other points.` */
function writeText(device: Pick<Device, 'bank'>, points: readonly PointSlot[]): string {
  const named = points.slice(0, maxNamed).map((slot) => pointText(device, slot));
  const more = points.length - named.length;
  const others = more === 0 ? '' : ` and ${more} other ${more === 1 ? 'point' : 'points'}`;
  return `${named.join(', ')}${others}.`;
}

/** Points of one write that the timeline keeps as requests. */
const maxKept = 100;

/** The requests that write the same, one for each model; undefined: too many points, or one that has no value. */
function callsOf({ index, bank }: Pick<Device, 'index' | 'bank'>, slots: readonly PointSlot[]) {
  if (slots.length > maxKept || slots.some((slot) => bank.value(slot) === null)) return undefined;
  return [...new Set(slots.map(({ modelName }) => modelName))].map((model) => ({
    method: 'POST',
    path: `/registers/${model}`,
    query: { device: String(index) },
    body: {
      points: Object.fromEntries(
        slots.filter(({ modelName }) => modelName === model).map((slot) => [slot.path, bank.value(slot)]),
      ),
    },
  }));
}

/** The request of a master that writes now; null: another writer, or the messages are not recorded. */
function requestOf(messages: Messages, { source, peer }: Change['by']): string | null {
  return peer !== undefined && (source === 'modbus' || source === 'dnp3')
    ? requestAtHand(messages, source, peer)
    : null;
}

/** Tells one write, unless it changes nothing. */
export function tellWrite(
  timeline: TimelineSink,
  messages: Messages,
  device: Pick<Device, 'index' | 'bank'>,
  change: Change,
): void {
  const { by, at, changed } = change;
  if (!toldSources.has(by.source)) return;
  const points = changed.filter((slot) => !isRoutine(slot));
  const [first] = points;
  if (first === undefined) return;
  const isReversion = by.source === 'reversion';
  timeline.add({
    kind: first.modelId === surroundingsModel ? 'weather' : 'peer',
    title: isReversion ? 'Reverted' : 'Registers written',
    text: `${isReversion ? 'A reversion timer set ' : 'Set '}${writeText(device, points)}`,
    deviceIndex: device.index,
    by,
    at,
    ref: { type: 'point', id: pointName(first) },
    message: requestOf(messages, by),
    // a timer that a command has started reverts it again
    calls: isReversion ? undefined : callsOf(device, points),
  });
}

/** @returns function that ends it */
export function tellWrites(plant: SimPlant, messages: Messages, timeline: TimelineSink): () => void {
  const ends = new Map<number, () => void>();
  const endDevices = followDevices(plant, {
    enter(device) {
      ends.set(
        device.index,
        device.bank.onChange((change) => {
          tellWrite(timeline, messages, device, change);
        }),
      );
    },
    leave(index) {
      ends.get(index)?.();
      ends.delete(index);
    },
  });
  return () => {
    endDevices();
    for (const end of ends.values()) end();
  };
}
