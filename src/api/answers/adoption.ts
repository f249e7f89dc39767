/** A request to adopt a stored set: the set in force must be the stored one afterwards. */
import type { Device } from '../../contract/device.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { adoptionPoints } from '../../sunspec/map/sets.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { Claim, Exchange } from './model.ts';

type AdoptionClaim = Pick<Claim, 'found' | 'holds' | 'reason'>;

/** The points of a stored set, each with its counterpart in the set in force. @param number from 1 */
function pairsOf(
  layout: Layout,
  { modelId, path }: PointSlot,
  number: number,
): readonly (readonly [PointSlot, PointSlot])[] {
  const sets = path.startsWith('AdptCtl') ? 'Ctl' : 'Crv';
  const [stored, inForce] = [`${sets}[${number - 1}].`, `${sets}[0].`];
  return layout.slots.flatMap((slot) => {
    if (slot.modelId !== modelId || !slot.path.startsWith(stored) || !slot.implemented) return [];
    if (slot.def.access !== 'RW') return [];
    const other = layout.slot(modelId, inForce + slot.path.slice(stored.length));
    return other?.implemented === true ? [[slot, other] as const] : [];
  });
}

interface Adoption {
  readonly exchange: Exchange;
  /** whether a later write over the same protocol has a point */
  readonly isLater: (point: string) => boolean;
}

/** @param number of the set that was asked for, from 1 */
export function adoptionClaim(
  device: Device,
  request: PointSlot,
  number: number,
  { exchange, isLater }: Adoption,
): AdoptionClaim {
  const { bank } = device;
  const result = adoptionPoints(bank.layout, request.modelId)?.result;
  if (result === undefined) return { found: null, reason: 'the model has no result of the adoption' };
  const state = bank.value(result);
  const place = `${result.modelId}.${result.path}`;
  const said = typeof state === 'string' ? state : null;
  const acted = (slot: PointSlot) => device.heldValue(slot) ?? bank.value(slot);
  // a stored set that was written since is another one than the one that was adopted
  const isOther = (stored: PointSlot) =>
    isLater(pointName(stored)) || (bank.provenance(stored)?.wallMs ?? 0) > exchange.answeredWallMs;
  const differing = pairsOf(bank.layout, request, number).find(
    ([stored, inForce]) => bank.value(stored) !== acted(inForce) && !isOther(stored),
  );
  const writer = bank.provenance(differing?.[1] ?? request) ?? null;
  const holder = 'the register';
  if (state !== 'COMPLETED') return { found: { place, holder, value: said, writer }, holds: false };
  if (differing === undefined) return { found: { place, holder, value: said, writer }, holds: true };
  const [stored, inForce] = differing;
  const [wanted, has] = [String(bank.value(stored)), String(acted(inForce))];
  const value = `${state}, but ${inForce.modelId}.${inForce.path} is ${has} and not ${wanted}`;
  return { found: { place, holder, value, writer }, holds: false };
}
