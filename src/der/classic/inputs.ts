/** The inputs of model 160, by port of 714. */
import type { MeasurementView } from '../../sunspec/map/view.ts';
import type { DcPort } from '../source/source.ts';

type Ports = MeasurementView['m714']['Prt'];
type Port = Ports[number];
type Input = NonNullable<MeasurementView['m160']>['module'][number];

/**
 * Calls `visit` for each input with its port (undefined: unused) and its number, and with its direction: 1 from the
 * port to the device, -1 into the port.
 */
export function forEachInput(
  { m124, m160, m714 }: MeasurementView,
  visit: (input: Input, port: Port | undefined, sign: 1 | -1, portNumber: number) => void,
): void {
  if (!m160) return;
  const { module: inputs } = m160;
  const { Prt: ports } = m714;
  const unused = hasUnusedInput(ports.length, m124 !== undefined) ? 1 : 0;
  const oneWay = 2 * ports.length + unused - inputs.length;
  let at = 0;
  const next = (port: Port | undefined, sign: 1 | -1, portNumber: number) => {
    const input = inputs[at];
    at += 1;
    if (input) visit(input, port, sign, portNumber);
  };
  ports.forEach((port, i) => {
    if (i < oneWay) {
      next(port, 1, i);
      return;
    }
    if (i === oneWay && unused > 0) next(undefined, 1, i);
    next(port, -1, i);
    next(port, 1, i);
  });
}

/** Clients expect charging and discharging of a hybrid as the third and the fourth input, behind two of PV. */
export function hasUnusedInput(ports: number, hasStorage: boolean): boolean {
  return hasStorage && ports === 2;
}

/** Numbers the inputs, and names them after their ports. */
export function nameInputs(map: MeasurementView, ports: readonly DcPort[]): void {
  const twoWay = new Map<number, number>();
  forEachInput(map, (_input, port, _sign, number) => {
    if (port) twoWay.set(number, (twoWay.get(number) ?? 0) + 1);
  });
  let id = 0;
  forEachInput(map, (input, port, sign, number) => {
    id += 1;
    const name = ports[number]?.name ?? '';
    const direction = twoWay.get(number) === 2 ? (sign < 0 ? ' charge' : ' discharge') : '';
    Object.assign(input, { ID: id, IDStr: port ? name + direction : 'not connected' });
  });
}
