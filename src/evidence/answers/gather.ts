/** The answered commands of a device, of every protocol, each judged. */
import type { Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import type { AnswerSources } from '../sources.ts';
import { csipAnswers } from './csip.ts';
import { dnp3Answers } from './dnp3.ts';
import { judged } from './judge.ts';
import type { Judged } from './judge.ts';
import { modbusAnswers } from './modbus.ts';
import { answerCauses, answerProtocols } from './model.ts';
import type { AnswerCause, AnswerProtocol, Answered } from './model.ts';
import { ocppAnswers } from './ocpp.ts';

/** State of the list of a protocol. */
export interface Participation {
  readonly protocol: AnswerProtocol;
  readonly recorded: boolean;
  /** reason why commands are missing from the list; null: it is complete */
  readonly reason: string | null;
}

export interface Answers {
  readonly judged: readonly Judged[];
  readonly protocols: readonly Participation[];
  readonly counts: Readonly<Record<AnswerCause, number>>;
}

type Read = (from: AnswerSources, device: Device, sinceMs: number) => readonly Answered[];

const readers: Readonly<Record<AnswerProtocol, Read>> = {
  modbus: modbusAnswers,
  csip: csipAnswers,
  ocpp: ocppAnswers,
  dnp3: dnp3Answers,
};

const off = 'switched off';
const notRecorded = (path: string) => `its messages are not recorded: POST ${path} {"enabled": true}`;

/** The reason why commands of a protocol are missing; null: the list is complete. */
function reasonOf(from: AnswerSources, device: Device, protocol: AnswerProtocol): string | null {
  switch (protocol) {
    case 'modbus':
      return from.modbusMessages.recording ? null : notRecorded('modbus/messages');
    case 'dnp3':
      if (!from.dnp3.enabled) return off;
      if (from.dnp3.outstation(device.index) === null) return 'the device has no outstation';
      return from.dnp3.recording ? null : notRecorded('dnp3/messages');
    case 'ocpp':
      if (!from.ocpp.enabled) return off;
      return from.ocpp.ofDevice(device.index) === null ? 'the device is no charging station' : null;
    case 'csip':
      if (!from.csipClient.enabled) return off;
      if (!hasClient(from, device)) return 'no client stands for the device';
      return from.csipClient.messages.recording ? null : notRecorded('csip/messages');
  }
}

function hasClient({ csipClient }: AnswerSources, { index }: Device): boolean {
  try {
    return csipClient.config(index) !== null;
  } catch (error) {
    if (error instanceof SimError && error.code === 'UNKNOWN_DEVICE') return false;
    throw error;
  }
}

const absenceReasons = [
  off,
  'the device has no outstation',
  'the device is no charging station',
  'no client stands for the device',
];

/** The reason why a device does not carry out remote commands, in words; null: it does. */
function hindranceOf({ plant }: AnswerSources, device: Device): string | null {
  if (plant.silentDevices.has(device.index)) return 'the device is off';
  return device.localControl ? 'the device is under local control (715.LocRemCtl) and refuses remote commands' : null;
}

export interface AnswersWanted {
  /** wall time of the earliest command, ms since the epoch; 0: all stored commands */
  readonly sinceMs: number;
  /** null: all */
  readonly protocol: AnswerProtocol | null;
}

export function answersOf(from: AnswerSources, device: Device, { sinceMs, protocol: only }: AnswersWanted): Answers {
  from.faults.expire();
  const protocols = answerProtocols
    .filter((protocol) => only === null || protocol === only)
    .map((protocol): Participation => {
      const reason = reasonOf(from, device, protocol);
      return { protocol, recorded: reason === null, reason };
    });
  const answered = protocols.flatMap(({ protocol, reason }) =>
    reason !== null && absenceReasons.includes(reason) ? [] : readers[protocol](from, device, sinceMs),
  );
  answered.sort((a, b) => a.exchange.answeredWallMs - b.exchange.answeredWallMs);
  const all = judged(answered, {
    deviceIndex: device.index,
    faults: from.faults,
    dateMs: (at) => from.plant.dateMs(at),
    hindrance: hindranceOf(from, device),
  });
  const count = (cause: AnswerCause) => all.filter((each) => each.cause === cause).length;
  return {
    judged: all,
    protocols,
    counts: Object.fromEntries(answerCauses.map((cause) => [cause, count(cause)])) as Record<AnswerCause, number>,
  };
}
