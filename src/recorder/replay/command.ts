/** `derbench replay FILE`: arguments to a replay, and its reports as text. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { errorText, SimError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { parseReplayArguments, replayHelp } from './arguments.ts';
import type { ReplayArguments } from './arguments.ts';
import { readRecording } from './recording.ts';
import type { Recording } from './recording.ts';
import { counted } from './report.ts';
import type { ReplayReport } from './report.ts';
import { replay } from './replay.ts';

/** Where the command writes. */
export interface CommandIo {
  /** results, without a line end */
  out(line: string): void;
  /** failures and wrong use */
  error(line: string): void;
}

/** Exit code when answers differ from the recorded ones. */
export const differencesCode = 4;

async function recordingOf(file: string): Promise<Recording> {
  const stream = createReadStream(file, 'utf8');
  const opened = new Promise<void>((resolve, reject) => {
    stream.once('open', () => {
      resolve();
    });
    stream.once('error', reject);
  });
  try {
    await opened;
  } catch (error) {
    throw new SimError('CONFIG_INVALID', `${file} cannot be read: ${errorText(error)}`);
  }
  return readRecording(createInterface({ input: stream, crlfDelay: Infinity }));
}

function printReport({ protocol, requests, differences, ignored, notes }: ReplayReport, shown: number, io: CommandIo) {
  const more = differences.length - shown;
  for (const difference of differences.slice(0, shown)) io.out(difference);
  if (more > 0) io.out(`... and ${counted(more, 'more difference')} (--limit shows more)`);
  for (const note of notes) io.out(`${protocol}: ${note}`);
  const loose = ignored > 0 ? `, ${counted(ignored, 'value')} that may differ` : '';
  io.out(`${protocol}: ${counted(requests, 'request')} replayed, ${counted(differences.length, 'difference')}${loose}`);
}

async function run({ file, target, options, shown }: ReplayArguments, io: CommandIo): Promise<number> {
  const { messages } = await recordingOf(file);
  const reports = await replay(messages, target, options, (line) => {
    io.out(line);
  });
  for (const report of reports) printReport(report, shown, io);
  return reports.some(({ differences }) => differences.length > 0) ? differencesCode : exitCodes.ok;
}

/**
 * @param argv what follows `replay` on the command line
 * @returns exit code: 0 no difference, 4 differences, 2 wrong use or no recording, 1 the other end cannot be reached
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
    return error.code === 'CONFIG_INVALID' ? exitCodes.usage : exitCodes.internal;
  }
}
