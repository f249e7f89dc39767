/** `derbench replay FILE`: arguments, replay, and its reports as text. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { recordedProtocols } from '../../contract/recorder.ts';
import { SimError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { fileReason } from '../../core/text-file.ts';
import { parseReplayArguments, replayHelp } from './arguments.ts';
import type { ReplayArguments } from './arguments.ts';
import { linesOf, readRecording } from './recording.ts';
import type { Recording, RecordedMessage } from './recording.ts';
import { counted } from './report.ts';
import type { ReplayReport } from './report.ts';
import { replay } from './replay.ts';
import type { ReplayTarget } from './replay.ts';
import { didYouMean } from '../../core/nearest.ts';
import { pointKinds } from './dnp3-objects.ts';
import { isIgnored, pointNames } from './points.ts';

const dnp3Point = new RegExp(`^(${pointKinds.join('|')}) \\d{1,5}$`);
/** Form of a member or element, or of its path. Names are not checked: the new build may have added them. */
const member = /^[\w/[\].:-]+$/;

/** True if the recording has a point of this name, as with the map of another manufacturer. */
function isRecordedPoint(name: string, messages: readonly RecordedMessage[]): boolean {
  const text = JSON.stringify(name);
  return messages.some(({ protocol, details }) => protocol === 'modbus' && JSON.stringify(details).includes(text));
}

function isModbusPoint(name: string, messages: readonly RecordedMessage[]): boolean {
  const plain = name.replace(/\[\d+\]/g, '');
  return pointNames().some((point) => isIgnored(point, [plain])) || isRecordedPoint(name, messages);
}

/**
 * Checks the names of `--ignore`: a misspelt name would silently ignore nothing.
 * @throws SimError CONFIG_INVALID for a name that is unknown in all replayed protocols
 */
export function checkIgnored(
  ignore: readonly string[],
  { modbus, dnp3, ocpp, csip }: ReplayTarget,
  messages: readonly RecordedMessage[],
): void {
  const isKnown = (name: string) =>
    (modbus !== undefined && isModbusPoint(name, messages)) ||
    (dnp3 !== undefined && dnp3Point.test(name)) ||
    ((ocpp !== undefined || csip !== undefined) && member.test(name));
  const unknown = ignore.find((name) => !isKnown(name));
  if (unknown === undefined) return;
  const near = modbus === undefined ? '' : didYouMean(unknown, pointNames());
  const words = `--ignore: nothing that is replayed has the name ${JSON.stringify(unknown)}${near}`;
  throw new SimError('CONFIG_INVALID', `${words}; derbench replay --help explains the arguments`);
}

/** Output of the command. */
export interface CommandIo {
  /** results, without a line end */
  out(line: string): void;
  /** failures and invalid usage */
  error(line: string): void;
}

/** Exit code when answers differ from the recorded ones. */
export const differencesCode = 4;

async function recordingOf(file: string): Promise<Recording> {
  let stream: ReadStream;
  try {
    // a directory opens without error, but cannot be read
    if ((await stat(file)).isDirectory()) throw new Error('it is a directory');
    stream = createReadStream(file, 'utf8');
    await once(stream, 'open');
  } catch (error) {
    throw new SimError('CONFIG_INVALID', `${file} cannot be read: ${fileReason(error)}`);
  }
  return readRecording(linesOf(stream as AsyncIterable<string>));
}

/** Protocols of messages that cannot be replayed, one sentence each. */
function unknownProtocols({ messages }: Recording): readonly string[] {
  const counts = new Map<string, number>();
  for (const { protocol } of messages)
    if (!recordedProtocols.some((name) => name === protocol)) counts.set(protocol, (counts.get(protocol) ?? 0) + 1);
  return [...counts].map(
    ([protocol, n]) =>
      `left out: ${counted(n, 'message')} of ${JSON.stringify(protocol)}, a protocol that is not known`,
  );
}

function printReport(report: ReplayReport, maxShown: number, io: CommandIo) {
  const { protocol, requests, differences, ignored, notes } = report;
  const hidden = differences.length - maxShown;
  for (const difference of differences.slice(0, maxShown)) io.out(difference);
  if (hidden > 0) io.out(`... and ${counted(hidden, 'more difference')} (--limit shows more)`);
  for (const note of notes) io.out(`${protocol}: ${note}`);
  const suffix = ignored > 0 ? `, ${counted(ignored, 'value')} that may differ` : '';
  io.out(
    `${protocol}: ${counted(requests, 'request')} replayed, ${counted(differences.length, 'difference')}${suffix}`,
  );
}

async function run({ file, target, options, maxShown }: ReplayArguments, io: CommandIo): Promise<number> {
  const recording = await recordingOf(file);
  checkIgnored(options.ignore, target, recording.messages);
  for (const line of unknownProtocols(recording)) io.out(line);
  const reports = await replay(recording.messages, target, options, (line) => {
    io.out(line);
  });
  for (const report of reports) printReport(report, maxShown, io);
  const isVacuous = ({ compared, differences }: ReplayReport) => compared === 0 && differences.length === 0;
  const vacuous = reports.filter(isVacuous).map(({ protocol }) => protocol);
  if (vacuous.length > 0)
    io.error(`derbench replay: nothing of ${vacuous.join(' and ')} was compared, so the replay is no success`);
  if (reports.some(({ differences }) => differences.length > 0)) return differencesCode;
  return vacuous.length > 0 ? exitCodes.usage : exitCodes.ok;
}

/**
 * @param argv arguments after `replay`
 * @returns exit code: 0 no difference, 4 differences, 2 invalid usage, no recording or nothing to compare, 3 a port
 *   that cannot be opened, 1 another failure, such as a target that cannot be reached
 */
export async function replayCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    const parsed = parseReplayArguments(argv);
    if (parsed !== null) return await run(parsed, io);
    io.out(replayHelp);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    io.error(`derbench replay: ${error.message}`);
    if (error.code === 'LISTEN_FAILED') return exitCodes.addressInUse;
    return error.code === 'CONFIG_INVALID' ? exitCodes.usage : exitCodes.internal;
  }
}
