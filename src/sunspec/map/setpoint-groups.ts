/** Set-points of the control models with the enable and the reversion time that they share, for judges of writers. */
import type { SetpointChange, SetpointGroup } from '../../core/findings/setpoints.ts';
import type { Source } from '../../core/origin.ts';
import type { Change, PointBank } from './bank.ts';
import { memoPerLayout } from './layout.ts';
import type { Layout, PointSlot } from './layout.ts';
import { pointName } from './view.ts';

/** Set-points that one enable switches on, by the marks in the model tables. */
export interface SetpointSlots {
  readonly enable: PointSlot;
  /** null: not implemented */
  readonly timer: PointSlot | null;
  readonly setpoints: readonly PointSlot[];
}

/** Models whose set-points act while an enable of theirs is ENABLED. */
const controlModels: readonly number[] = [123, 704];

export const setpointSlots = memoPerLayout((layout): readonly SetpointSlots[] =>
  controlModels.flatMap((id) => groupsOfModel(layout, id)),
);

function groupsOfModel(layout: Layout, modelId: number): readonly SetpointSlots[] {
  const place = layout.models.find(({ def }) => def.id === modelId);
  const marked = place?.slots.filter(({ def, implemented }) => def.reversion !== undefined && implemented) ?? [];
  return [...new Set(marked.map(({ def }) => def.reversion))].flatMap((timerName = '') => {
    const members = marked.filter(({ def }) => def.reversion === timerName);
    const enable = members.find(({ path }) => path.endsWith('Ena'));
    const setpoints = members.filter((slot) => slot !== enable);
    const timer = layout.slot(modelId, timerName);
    if (enable === undefined || setpoints.length === 0) return [];
    return [{ enable, setpoints, timer: timer?.implemented === true ? timer : null }];
  });
}

/** Value of a set-point that limits or shifts nothing, by the begin of its path; others always act. */
const neutralValues: readonly (readonly [path: string, value: number])[] = [
  ['WMaxLim', 100],
  ['Var', 0],
  ['VAr', 0],
  ['PFW', 1],
  ['OutPFSet', 1],
];

function neutralValueOf({ path }: PointSlot): number | undefined {
  return neutralValues.find(([begin]) => path.startsWith(begin))?.[1];
}

/** The set-points of a device, in the order of `setpointSlots`. */
export function setpointGroupsOf(bank: PointBank): readonly SetpointGroup[] {
  return setpointSlots(bank.layout).map(({ enable, timer, setpoints }) => {
    const values = () => setpoints.map((slot) => bank.value(slot));
    const [first = enable] = setpoints;
    return {
      name: pointName(first),
      enable: pointName(enable),
      timer: timer && pointName(timer),
      isEnabled: () => bank.value(enable) === 'ENABLED',
      reversionS: () => Number(timer ? bank.value(timer) : 0),
      isNeutral: () =>
        setpoints.every((slot) => {
          const value = bank.value(slot);
          return typeof value !== 'number' || Math.abs(value) === neutralValueOf(slot);
        }),
      values: () => values().join(' '),
    };
  });
}

/**
 * Calls `changed` for each group of a device that a change touches.
 * @param judged source of the writes that are judged
 * @returns function that unsubscribes
 */
export function onSetpointChange(
  bank: PointBank,
  groups: readonly SetpointGroup[],
  judged: Source,
  changed: (group: SetpointGroup, how: SetpointChange) => void,
): () => void {
  const slots = setpointSlots(bank.layout);
  const howOf = ({ by: { source } }: Change): SetpointChange =>
    source === judged ? 'by_peer' : source === 'reversion' ? 'reverted' : 'by_others';
  return bank.onChange((change) => {
    for (const [i, { enable, setpoints }] of slots.entries()) {
      const group = groups[i];
      const isTouched = change.points.some((slot) => slot === enable || setpoints.includes(slot));
      if (group !== undefined && isTouched) changed(group, howOf(change));
    }
  });
}
