/** The window on the curves: AO244 to AO448 with their mirrors, and BI107. */
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { bindings, computed, success } from '../bind.ts';
import { pointsPerCurve, windowStarts } from '../table/rows.ts';
import type { OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import type { Namings } from './naming.ts';
import { curveCount } from './store.ts';
import type { CurveStore, StoredCurve } from './store.ts';

const bound = 'curve in the window';

type Field = Exclude<keyof StoredCurve, 'values'>;

/** A member of the selected curve. @param more refuses a value that the lock does not */
function field(
  { changed }: PartContext,
  store: CurveStore,
  namings: Namings,
  read: (curve: Readonly<StoredCurve>) => number,
  write: (curve: StoredCurve, value: number) => void,
  more: (value: number) => ControlStatus = () => success,
): OutputTarget {
  const check = (value: number | boolean): ControlStatus => {
    if (namings.isLocked(store.selected)) return controlStatus.automationInhibit;
    return Number.isInteger(value) ? more(Number(value)) : controlStatus.outOfRange;
  };
  return {
    read: () => read(store.curve(store.selected)),
    check,
    operate(value) {
      const status = check(value);
      if (status !== success) return status;
      write(store.edit(store.selected), Number(value));
      changed();
      return success;
    },
    bound,
  };
}

/** The points of the window. */
export function curveWindow(context: PartContext, store: CurveStore, namings: Namings): PointBindings {
  const member = (name: Field, more?: (value: number) => ControlStatus) =>
    field(
      context,
      store,
      namings,
      (curve) => curve[name],
      (curve, value) => {
        curve[name] = value;
      },
      more,
    );
  const selector: OutputTarget = {
    read: () => store.selected,
    check: (value) => (Number.isInteger(value) && Number(value) <= curveCount ? success : controlStatus.outOfRange),
    operate(value) {
      if (!Number.isInteger(value) || Number(value) > curveCount) return controlStatus.outOfRange;
      store.selected = Number(value);
      context.changed();
      return success;
    },
    bound,
  };
  // a function that names the curve would follow another type than its own
  const type = (value: number): ControlStatus =>
    namings.isNamed(store.selected) && value !== store.curve(store.selected).type
      ? controlStatus.notSupported
      : success;
  const values = Array.from({ length: 2 * pointsPerCurve }, (_, i) => {
    const name: PointName = `AO${windowStarts.curve.output + i}`;
    const value = field(
      context,
      store,
      namings,
      (curve) => curve.values[i] ?? 0,
      (curve, wire) => {
        curve.values[i] = wire;
      },
    );
    return [name, value] as const;
  });
  return bindings(
    [['BI107', computed(() => namings.isNamed(store.selected), bound)]],
    [
      ['AO244', selector],
      ['AO245', member('type', type)],
      ['AO246', member('count')],
      ['AO247', member('xUnit')],
      ['AO248', member('yUnit')],
      ...values,
    ],
  );
}
