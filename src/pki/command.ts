/** `derbench pki`: writes a test hierarchy of certificates into a folder, without OpenSSL. */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { givenAllowed, SimError } from '../core/errors.ts';
import { hostText, isHost } from '../core/net/host-name.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { fileReason } from '../core/text-file.ts';
import { csipTree } from './csip-tree.ts';
import type { Identity } from './issue.ts';
import { modbusTree } from './modbus-tree.ts';
import { generateTree } from './tree.ts';
import type { Entry } from './tree.ts';

/** The process around the command. */
export interface PkiIo {
  /** Prints a line of the result. */
  out(line: string): void;
  /** Prints a line about a failure. */
  error(line: string): void;
  /** ms since the epoch */
  nowMs(): number;
}

export const pkiHelp = `Usage: derbench pki [DIR] [--devices N] [--host H]...
       derbench pki [DIR] --modbus [--host H]...

Writes certificates for tests, with their keys on P-256 in clear, and lists them. What is in DIR already stays: more devices join,
and a new DIR begins anew.

  DIR          default csip-pki, with --modbus test-pki
  --devices N  number of devices of IEEE 2030.5, 0 to 10000 (default 1)
  --host H     a further name or address by which clients reach the server, besides localhost; may be repeated
  --modbus     certificates of Modbus over TLS: CA, server, a client of each role, and bad clients
               (default: of IEEE 2030.5: SERCA, MCA, MICA, server, aggregator, devices, and the chains of COMM-004)

Exit code: 0 done, 2 wrong use or a folder that cannot be used, 1 another failure.`;

interface PkiArguments {
  readonly folder: string;
  readonly isModbus: boolean;
  readonly devices: number;
  readonly hosts: readonly string[];
}

const flags = {
  devices: { type: 'string' },
  host: { type: 'string', multiple: true },
  modbus: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const maxDevices = 10_000;
const maxFileBytes = 1024 * 1024;
const ownerOnly = { folder: 0o700, file: 0o600 };

const wrong = (detail: string) =>
  new SimError('CONFIG_INVALID', `${detail}; derbench pki --help explains the arguments`);

/** @throws SimError CONFIG_INVALID */
function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: flags, allowPositionals: true });
  } catch (error) {
    // Node's words name the flag and what is wrong with it, then give advice on positional arguments
    throw wrong((error as Error).message.replace(/\. .*$/s, ''));
  }
}

function devicesOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= maxDevices) return Number(text);
  throw wrong(`--devices: ${givenAllowed(text, `0 to ${maxDevices}`)}`);
}

/** @returns null: help is wanted @throws SimError CONFIG_INVALID */
function parsePkiArguments(words: readonly string[]): PkiArguments | null {
  const { values, positionals } = parsed(words);
  if (values.help === true) return null;
  const isModbus = values.modbus === true;
  const [folder = isModbus ? 'test-pki' : 'csip-pki', ...rest] = positionals;
  if (folder === '') throw wrong('DIR is empty');
  if (rest.length > 0) throw wrong(`${JSON.stringify(rest[0])} is one word too many`);
  if (isModbus && values.devices !== undefined) throw wrong('--devices is no flag of --modbus');
  const hosts = values.host ?? [];
  for (const host of hosts) if (!isHost(host)) throw wrong(`--host: ${givenAllowed(host, hostText)}`);
  return { folder, isModbus, devices: devicesOf(values.devices ?? '1'), hosts };
}

/** Certificate and key of an entry in the folder; null: it has no certificate. */
function existingIdentity(folder: string, name: string): Identity | null {
  const text = (ending: string) => {
    const path = join(folder, `${name}.${ending}`);
    if (!existsSync(path)) return null;
    const content = readFileSync(path, 'utf8');
    if (content.length > maxFileBytes) throw new SimError('CONFIG_INVALID', `${path} is not a file of this command`);
    return content;
  };
  const cert = text('pem');
  return cert === null ? null : { cert, key: text('key') ?? '' };
}

/** Writes a file that its owner alone can read: whole, or not at all. */
function writeWhole(path: string, text: string): void {
  const temporary = `${path}.new`;
  try {
    writeFileSync(temporary, text, { mode: ownerOnly.file });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Writes the key first: a certificate whose key is missing would be kept for ever. */
function writeIdentity(folder: string, name: string, { cert, key }: Identity): void {
  writeWhole(join(folder, `${name}.key`), key);
  writeWhole(join(folder, `${name}.pem`), cert);
}

async function write({ folder, isModbus, devices, hosts }: PkiArguments, io: PkiIo): Promise<void> {
  const entries: readonly Entry[] = isModbus ? modbusTree({ hosts, nowMs: io.nowMs() }) : csipTree({ devices, hosts });
  mkdirSync(folder, { recursive: true, mode: ownerOnly.folder });
  const generated = await generateTree(entries, (name) => existingIdentity(folder, name));
  const width = Math.max(...generated.map(({ entry }) => entry.name.length)) + '.pem '.length;
  const say = (name: string, meaning: string) => {
    io.out(`${name.padEnd(width)} ${meaning}`);
  };
  for (const { entry, cert, key, isNew } of generated) {
    if (isNew) writeIdentity(folder, entry.name, { cert, key });
    say(`${entry.name}.pem`, entry.meaning);
    const { subjectAltName } = new X509Certificate(cert);
    if (entry.name === 'server') say('', `its names: ${subjectAltName ?? 'none'}`);
  }
  say('*.key', 'the keys that belong to them');
  io.out(`in ${resolve(folder)}`);
}

/**
 * @param argv arguments after `pki`
 * @returns exit code: 0 done; 2 wrong use, or a folder that cannot be used; 1 another failure
 */
export async function pkiCommand(argv: readonly string[], io: PkiIo): Promise<number> {
  try {
    const parsedArguments = parsePkiArguments(argv);
    if (parsedArguments === null) io.out(pkiHelp);
    else await write(parsedArguments, io);
    return exitCodes.ok;
  } catch (error) {
    const isInput =
      (error instanceof SimError && error.code !== 'SHORTAGE') || (error instanceof Error && 'syscall' in error);
    io.error(`derbench pki: ${error instanceof SimError ? error.message : fileReason(error)}`);
    return isInput ? exitCodes.usage : exitCodes.internal;
  }
}
