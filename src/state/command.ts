/** `derbench state`: shows, exports, imports and empties a state folder. */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { SimError } from '../core/errors.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { fileReason, readTextFile } from '../core/text-file.ts';
import { parseStateArguments, stateHelp } from './arguments.ts';
import type { StateArguments } from './arguments.ts';
import { replaceContents } from './contents.ts';
import type { Contents } from './contents.ts';
import { emptied, exported, imported, partOf, withDevice } from './document.ts';
import type { ImportedState } from './document.ts';
import { folderAt } from './files.ts';
import type { Folder } from './files.ts';
import { checkFolder, copyDamaged, readState, withFolderToRead, withLockedFolder } from './folder-work.ts';
import type { FolderState } from './folder-work.ts';
import { lockHolder } from './lock.ts';
import { summaryAsJson, summaryAsText } from './show.ts';
import { snapshotFolder, Snapshots } from './snapshots.ts';

/** The process around the command. */
export interface StateIo {
  /** Prints a result; resolves when it is written. */
  out(text: string): Promise<void>;
  /** Prints a line about a failure, or about what was done. */
  error(line: string): void;
  /** ms since the epoch */
  nowMs(): number;
  /** of this simulator */
  readonly version: string;
}

/** Maximum size of a document, octets: the text of a larger one does not fit into memory. */
const maxDocumentBytes = 256 * 1024 * 1024;
const ownerOnly = 0o600;

const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const subject = (device: number | null) => (device === null ? 'the state' : `the state of device ${device}`);

async function show({ folder: path, device, asJson }: StateArguments, io: StateIo): Promise<void> {
  checkFolder(path);
  const state = readState(folderAt(path));
  const place = join(path, snapshotFolder);
  const snapshots = await new Snapshots({
    folder: folderAt(place),
    version: io.version,
    nowMs: () => io.nowMs(),
    isReadOnly: true,
  }).list();
  const contents = device === null ? state.contents : partOf(state.contents, device);
  const summary = {
    folder: path,
    device,
    state: { ...state, contents },
    holder: lockHolder(path, io.nowMs()),
    snapshots: device === null ? snapshots : [],
  };
  await io.out(asJson ? summaryAsJson(summary) : summaryAsText(summary));
}

/** Opens a file for writing. @throws SimError CONFIG_INVALID */
function openOutput(file: string, path: string): number {
  try {
    return openSync(file, 'w', ownerOnly);
  } catch (error) {
    throw new SimError('CONFIG_INVALID', `--output: ${path} cannot be written: ${fileReason(error)}`);
  }
}

/**
 * Writes a file that its owner alone can read: whole, or not at all.
 * @throws SimError CONFIG_INVALID for a file that cannot be opened; Error in words for a full disk
 */
function writeDocument(path: string, text: string): void {
  // a pipe or a terminal cannot be replaced
  const isSpecial = existsSync(path) && !statSync(path).isFile();
  const temporary = isSpecial ? path : `${path}.new`;
  const file = openOutput(temporary, path);
  try {
    try {
      if (!isSpecial) fchmodSync(file, ownerOnly);
      writeFileSync(file, text);
      if (!isSpecial) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (!isSpecial) renameSync(temporary, path);
  } catch (error) {
    if (!isSpecial) rmSync(temporary, { force: true });
    throw new Error(`--output: ${path} cannot be written: ${fileReason(error)}`, { cause: error });
  }
}

/** True for a file in a folder, or below it, once links are resolved. */
function isWithin(file: string, folder: string): boolean {
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path));
  const place = existsSync(file) ? real(file) : join(real(dirname(resolve(file))), basename(file));
  return place.startsWith(`${real(folder)}${sep}`);
}

function noteDamage({ damage, records }: FolderState, io: StateIo): void {
  if (damage !== null)
    io.error(
      damage === 'torn'
        ? 'the last record of the journal was not written whole: it is left out'
        : `the journal is damaged: only the state of its first ${countText(records, 'record')} can be read`,
    );
}

async function exportState({ folder: path, device, output, withSecrets }: StateArguments, io: StateIo): Promise<void> {
  checkFolder(path);
  if (output !== null && isWithin(output, path))
    throw new SimError(
      'CONFIG_INVALID',
      `--output: ${output} lies in the state folder; allowed: a file outside of ${path}`,
    );
  const state = withFolderToRead(path, readState);
  noteDamage(state, io);
  const { version } = io;
  const document = exported(state.contents, { device, withSecrets, nowMs: io.nowMs(), version });
  const text = `${JSON.stringify(document, null, 1)}\n`;
  const { left_out: leftOut } = document;
  if (leftOut.length > 0)
    io.error(
      `passwords and keys of ${countText(leftOut.length, 'slot')} are left out; --with_secrets exports them too`,
    );
  if (output === null) await io.out(text);
  else writeDocument(output, text);
}

/** Replaces the state in a folder; a damaged journal is kept beside it. */
async function replaceState(folder: Folder, io: StateIo, contentsOf: (present: Contents) => Contents): Promise<void> {
  const state = readState(folder);
  const contents = contentsOf(state.contents);
  if (state.damage === 'damaged')
    io.error(`the journal is damaged; it is kept as ${await copyDamaged(folder, io.nowMs())}`);
  await replaceContents(folder, contents);
}

/** @throws SimError CONFIG_INVALID that names the file */
function readDocument(path: string): ImportedState {
  let text: string;
  try {
    text = readTextFile(path, maxDocumentBytes);
  } catch (error) {
    throw new SimError('CONFIG_INVALID', `${path} cannot be read: ${fileReason(error)}`);
  }
  try {
    return imported(text);
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    throw new SimError(error.code, `${path}: ${error.message}`, error.issues);
  }
}

async function importState({ folder: path, file, device: chosen }: StateArguments, io: StateIo): Promise<void> {
  const { contents, device: documentDevice, leftOut } = readDocument(file);
  if (chosen !== null && documentDevice !== null && chosen !== documentDevice)
    throw new SimError(
      'CONFIG_INVALID',
      `--device: given ${chosen}; ${file} has the state of device ${documentDevice}`,
    );
  const device = chosen ?? documentDevice;
  // a device is imported beside others, a whole state also into a new folder
  if (device !== null || existsSync(path)) checkFolder(path);
  const part = device === null ? contents : partOf(contents, device);
  await withLockedFolder(path, (folder) =>
    replaceState(folder, io, (present) => (device === null ? part : withDevice(present, part, device))),
  );
  io.error(`${subject(device)} in ${path} is that of ${file}`);
  const missing = leftOut.filter((slot) => part.has(slot));
  if (missing.length > 0)
    io.error(
      `the document has no passwords and keys of ${countText(missing.length, 'slot')}: those of the configuration count`,
    );
}

async function reset({ folder: path, device, isConfirmed }: StateArguments, io: StateIo): Promise<void> {
  checkFolder(path);
  if (!isConfirmed)
    throw new SimError('CONFIG_INVALID', `reset loses ${subject(device)} in ${path} for good; --yes confirms it`);
  await withLockedFolder(path, (folder) =>
    replaceState(folder, io, (present) => (device === null ? new Map() : emptied(present, device))),
  );
  io.error(`${subject(device)} in ${path} is empty`);
}

const actions: Readonly<Record<StateArguments['action'], (parsed: StateArguments, io: StateIo) => Promise<void>>> = {
  show,
  export: exportState,
  import: importState,
  reset,
};

/**
 * @param argv arguments after `state`
 * @returns exit code: 0 done; 2 wrong use, a folder in use, or a file that does not fit; 1 another failure
 */
export async function stateCommand(argv: readonly string[], io: StateIo): Promise<number> {
  try {
    const parsed = parseStateArguments(argv);
    if (parsed === null) await io.out(`${stateHelp}\n`);
    else await actions[parsed.action](parsed, io);
    return exitCodes.ok;
  } catch (error) {
    const isInput = error instanceof SimError && error.code === 'CONFIG_INVALID';
    io.error(`derbench state: ${isInput ? error.message : fileReason(error)}`);
    if (!isInput) return exitCodes.internal;
    for (const { name, detail } of error.issues) io.error(`  ${name}: ${detail}`);
    return exitCodes.usage;
  }
}
