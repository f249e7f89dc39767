/** Runs a command against the simulator of `--url`. */
import { exitCodes } from '../core/exit-codes.ts';
import { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import { addressOf, numberOf, optionOf } from './call.ts';
import type { Arguments, Call, ClientCommand, Result } from './call.ts';
import { clientCommands } from './commands.ts';
import { fetchByHttp } from './fetch.ts';
import { announcing } from './instance.ts';
import { isColoured, printable, red } from './output.ts';
import { codeOf, documentOf, linesOf, OtherInstance } from './refusal.ts';

export interface ClientIo {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

const defaultUrl = 'http://127.0.0.1:8111';

/** How a command prints. */
interface Printer {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly io: ClientIo;
}

const json = (document: unknown) => JSON.stringify(document);

function printResult({ document, lines }: Result, { json: isJson, quiet, io }: Printer): void {
  if (quiet) return;
  if (isJson) {
    if (document !== undefined) io.out(json(document));
  } else for (const line of lines) io.out(printable(line));
}

/** The index of `--device`. @throws UsageError */
function deviceOf(given: Arguments): Call['device'] {
  const text = optionOf(given, '--device');
  return text === null ? {} : { device: numberOf(text, '--device', 0) };
}

function failed(error: unknown, url: string, { json: isJson, io }: Printer, coloured: boolean): number {
  if (!(error instanceof DerbenchError)) throw error;
  // an error inside `fetch` arrives as one of the connection
  if (error.cause instanceof OtherInstance) {
    io.error(`${red('derbench:', coloured)} ${error.cause.message}`);
    return exitCodes.refused;
  }
  if (isJson) io.out(json(documentOf(error)));
  const [first = '', ...more] = linesOf(error, url);
  for (const line of [`${red('derbench:', coloured)} ${printable(first)}`, ...more.map(printable)]) io.error(line);
  return codeOf(error);
}

/** Health checks of containers know 0 and 1: Docker reserves 2 and calls all others unhealthy. Wrong use stays 2. */
const codeFor = (name: string, code: number) =>
  name === 'health' && code !== exitCodes.usage ? exitCodes.internal : code;

/**
 * Runs one of `clientCommands`.
 * @returns the exit code
 * @throws UsageError
 */
export async function runClient(name: string, given: Arguments, io: ClientIo): Promise<number> {
  const command: ClientCommand | undefined = clientCommands[name];
  if (command === undefined) throw new Error(`${name} is not a command of a client`);
  const { env } = process;
  const url = addressOf(optionOf(given, '--url') ?? (env['DERBENCH_URL'] || defaultUrl));
  const printer = { json: given.options.has('--json'), quiet: given.options.has('--quiet'), io };
  const device = deviceOf(given);
  try {
    const fetch = announcing(fetchByHttp, url, optionOf(given, '--expect-instance'), io.error);
    const client = new Client(url, { fetch });
    const print = (line: string, document: unknown) => {
      printResult({ document, lines: [line] }, printer);
    };
    const result = await command({ ...given, client, device, print });
    printResult(result, printer);
    return result.code ?? exitCodes.ok;
  } catch (error) {
    const coloured = isColoured(process.stderr, env, given.options.has('--no-color'));
    return codeFor(name, failed(error, url, printer, coloured));
  }
}
