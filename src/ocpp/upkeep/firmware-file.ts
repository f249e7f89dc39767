/**
 * What a firmware file tells. Any octets count as a firmware. A first line `derbench-firmware <version>` names its
 * version, otherwise the file name does (`evse-2.4.1.bin`), otherwise the version in force gets a suffix. Two words may
 * follow the version for tests of a central system: `damaged` (the check before the installation fails) and `fails` (the
 * installation does).
 */

export interface FirmwareFile {
  /** null: neither header nor file name tells one */
  readonly version: string | null;
  readonly damaged: boolean;
  readonly fails: boolean;
}

/** Octets of the file that `firmwareFileOf` looks at. */
export const headerOctets = 256;
/** CiString50 of BootNotification */
const versionLength = 50;

const headerPattern = /^derbench-firmware[ \t]+([\x21-\x7e]{1,50})(?:[ \t]+(damaged|fails))?[ \t]*\r?(?:\n|$)/;
const namePattern = /\d+(?:\.\d+)+(?:[-+][0-9A-Za-z]+(?:\.[0-9]+)*)?/;
const extension = /\.[A-Za-z][A-Za-z0-9]*$/;

/** @param head the first octets @param octets of the whole file */
export function firmwareFileOf(name: string, head: Buffer, octets: number): FirmwareFile {
  const header = headerPattern.exec(head.toString('latin1', 0, headerOctets));
  const [inName] = namePattern.exec(name.replace(extension, '')) ?? [];
  return {
    version: header?.[1] ?? inName?.slice(0, versionLength) ?? null,
    damaged: octets === 0 || header?.[2] === 'damaged',
    fails: header?.[2] === 'fails',
  };
}

/** `1.2.0` becomes `1.2.0+1`, that `1.2.0+2`. */
export function nextVersion(version: string): string {
  const [, base = version, count = '0'] = /^(.*)\+(\d{1,6})$/.exec(version) ?? [];
  const suffix = `+${Number(count) + 1}`;
  return `${base.slice(0, versionLength - suffix.length)}${suffix}`;
}
