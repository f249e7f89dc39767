/** The tightest of the limits on the active power of a device. */
import type { Device } from './device.ts';
import type { EvseDetail } from './kinds/evse.ts';
import { deviceLimits } from './limit-chain.ts';
import type { LimitChain } from './limit-chain.ts';

/** Consumption of a station whose vehicles all take as much as they may, W; Infinity: no vehicle is there. */
function limitOfConnectorsW({ connectors, standbyW }: EvseDetail): number {
  let sumW = Infinity;
  for (const { ev, limitW } of connectors) if (ev !== null) sumW = (sumW === Infinity ? standbyW : sumW) + limitW;
  return sumW;
}

/** W, positive into the grid, in the direction in which the power flows or would flow; null: there is no limit. */
export function tightestLimitW({ direction, limitsW }: LimitChain, detail: Device['detail']): number | null {
  let leastW = detail.kind === 'evse' && direction === 'absorbs' ? limitOfConnectorsW(detail) : Infinity;
  for (const key of deviceLimits) leastW = Math.min(leastW, limitsW[key] ?? Infinity);
  if (leastW === Infinity) return null;
  return direction === 'delivers' ? leastW : -leastW;
}
