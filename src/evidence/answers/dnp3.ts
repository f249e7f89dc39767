/** Controls of DNP3 masters whose status was SUCCESS, output by output. */
import type { Device } from '../../contract/device.ts';
import type { Dnp3Control, Dnp3Message, Dnp3Outstations, Dnp3PointView } from '../../contract/dnp3.ts';
import type { AnswerSources } from '../sources.ts';
import { tidy } from '../consistency/model.ts';
import type { Answered, Claim, Exchange, ActualValue } from './model.ts';
import { registerPlace, slotNamed, stepOf } from './model.ts';

/** Functions that carry out controls; a select has no effect. */
const functions: ReadonlySet<string> = new Set(['operate', 'direct_operate']);
const success = 0;

/** A register in the words of a binding: `704.WSet`, `-704.WSet`, `10 x 704.WSet`. */
const binding = /^(-|[\d.e+-]+ x )?(\d+\.[A-Za-z][\w[\].]*)$/;

interface Bound {
  readonly actual: ActualValue;
  readonly resolution?: number;
}

/** The value of an output as the outstation shows it. */
function outputValue(view: Dnp3PointView): ActualValue {
  const isBinary = view.type === 'BO';
  return {
    place: `${view.type}${view.index}`,
    holder: 'the outstation',
    value: isBinary ? (view.value === null ? null : view.value !== 0) : view.engineeringValue,
    writer: null,
  };
}

/**
 * The value of the register that an output is bound to, in the unit of the output; without a register, of the output.
 */
function boundPlace(device: Device, view: Dnp3PointView): Bound {
  const [, scale, name] = binding.exec(view.boundTo ?? '') ?? [];
  const slot = name === undefined ? undefined : slotNamed(device, name);
  if (slot === undefined) return { actual: outputValue(view) };
  const factor = scale === undefined ? 1 : scale === '-' ? -1 : Number.parseFloat(scale);
  const register = registerPlace(device, slot, factor);
  if (slot.def.symbols === undefined) {
    // an output may be finer or coarser than its register
    const step = stepOf(slot, factor);
    return step === undefined
      ? { actual: register }
      : { actual: register, resolution: Math.max(step, Math.abs(view.multiplier)) };
  }
  // the profile decides which symbol an output stands for: several outputs share 715.OpCtl
  const { value } = outputValue(view);
  const { followed, ...rest } = register;
  const isOn = followed === 'ENABLED' ? true : followed === 'DISABLED' ? false : undefined;
  return { actual: { ...rest, value, ...(view.type === 'BO' && isOn !== undefined && { followed: isOn }) } };
}

function claimOf(outstations: Dnp3Outstations, device: Device, control: Dnp3Control): Claim {
  const { type, index, value: wire } = control;
  const name = `${type}${index}`;
  const [view] = outstations.points(device.index, { type, from: index, to: index });
  const value = typeof wire === 'number' ? tidy(wire * (view?.multiplier ?? 1)) : wire;
  const bound = view?.coverage === 'served' ? boundPlace(device, view) : null;
  const isRegister = bound !== null && bound.actual.place !== name;
  const common = {
    name,
    value,
    unit: view?.unit ?? null,
    subject: isRegister ? bound.actual.place : name,
    did: `operated ${name}${isRegister ? `, bound to ${bound.actual.place},` : ''} = ${String(value)}`,
  };
  if (bound === null) return { ...common, actual: null, reason: 'the outstation has no such output any more' };
  return { ...common, ...bound };
}

/** Claims of all positive answers of an outstation. @param sinceMs wall time of the earliest command, ms */
export function dnp3Answers({ dnp3 }: AnswerSources, device: Device, sinceMs: number): readonly Answered[] {
  // by master, which waits for the answer before its next request
  const pending = new Map<string, Dnp3Message>();
  return dnp3.messages({ deviceIndex: device.index }).flatMap((message): Answered[] => {
    const { direction, peer } = message;
    if (direction === 'in') {
      if (functions.has(message.function)) pending.set(peer, message);
      else if (message.function !== 'confirm') pending.delete(peer);
      return [];
    }
    const request = pending.get(peer);
    if (message.function !== 'response' || request?.sequence !== message.sequence) return [];
    pending.delete(peer);
    if (request.atMs < sinceMs) return [];
    const exchange = exchangeOf(request, message);
    return message.controls
      .filter(({ status }) => status === success)
      .map((control) => ({ exchange, claim: claimOf(dnp3, device, control) }));
  });
}

function exchangeOf(request: Dnp3Message, answer: Dnp3Message): Exchange {
  return {
    protocol: 'dnp3',
    messageId: request.id,
    answerId: answer.id,
    peer: request.peer,
    peerName: `DNP3 master ${request.peer}`,
    command: request.function,
    answer: 'SUCCESS',
    wallMs: request.atMs,
    answeredWallMs: answer.atMs,
    at: answer.at,
  };
}
