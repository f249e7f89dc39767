/** The reply of `consistency`; loaded with its first request. */
import type { RouteContext } from '../http/context.ts';
import type { Device } from '../../contract/device.ts';
import { isoOrNull } from '../common/schemas.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import type { Compared } from './compare.ts';
import { compareDevice } from './gather.ts';
import type { ComparedQuantity, Participation } from './gather.ts';
import type { QuantityName } from './names.ts';
import type { ConsistencyReply } from './schemas.ts';

type PresentationReply = ConsistencyReply['quantities'][number]['presentations'][number];

function presentationReply(each: Compared): PresentationReply {
  const { presenter, place, value, resolution, atMs, sentAtMs, interval, shown } = each;
  return {
    protocol: presenter,
    place,
    value,
    resolution,
    difference: each.difference,
    agrees: each.agrees,
    cause: each.cause,
    explanation: each.explanation,
    at: isoOrNull(atMs),
    sent_at: isoOrNull(sentAtMs),
    interval: interval === undefined ? null : { start: iso(interval.startMs), end: iso(interval.endMs) },
    shown: [...shown],
  };
}

const iso = (ms: number) => new Date(ms).toISOString();

function quantityReply({ name, row, presentations }: ComparedQuantity): ConsistencyReply['quantities'][number] {
  return {
    quantity: name,
    description: row.about,
    unit: row.unit === 'word' || row.unit === 'flag' || row.unit === '' ? null : row.unit,
    agrees: presentations.every(({ agrees }) => agrees !== false),
    presentations: presentations.map(presentationReply),
  };
}

function protocolReply({ presenter, absent, faults }: Participation): ConsistencyReply['protocols'][number] {
  return {
    protocol: presenter,
    presents: absent === null,
    reason: absent,
    faults: faults.map(({ fault: { facts }, changesValues }) => ({
      id: facts.id,
      kind: facts.kind.kind,
      changes_values: changesValues,
    })),
  };
}

/** @param wanted null: all quantities */
export function consistencyReply(ctx: RouteContext, device: Device, wanted: readonly QuantityName[] | null) {
  const { quantities, protocols, counts } = compareDevice(ctx, device, wanted);
  return replyInPieces<ConsistencyReply>({
    device_index: device.index,
    consistent: counts.fault + counts.unexplained === 0,
    quantity_count: quantities.length,
    presentation_count: quantities.reduce((sum, { presentations }) => sum + presentations.length, 0),
    difference_count: counts.fault + counts.unexplained + counts.earlier,
    causes: counts,
    protocols: protocols.map(protocolReply),
    quantities: eachLater(quantities, quantityReply),
  });
}
