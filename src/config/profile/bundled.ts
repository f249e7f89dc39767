import { readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { packageFile } from '../../core/package-files.ts';

const extensions = ['.yaml', '.yml', '.json'];
/** Prefix of the names of EVSE profiles: it distinguishes the profiles of the two flags without opening files. */
const evsePrefix = 'EVSE-';

/** Files of a folder of `config`, which come with the program, by name without extension. */
function bundledFiles(folder: string): ReadonlyMap<string, string> {
  const directory = packageFile(`config/${folder}`);
  return new Map(
    readdirSync(directory)
      .filter((file) => extensions.includes(extname(file)))
      .sort()
      .map((file) => [basename(file, extname(file)), join(directory, file)]),
  );
}

const deviceProfiles = bundledFiles('profiles');
const proxyMaps = bundledFiles('proxy');
const faultProfiles = bundledFiles('faults');
const examples = bundledFiles('examples');
const scenarios = bundledFiles('scenarios');

/** Names of the bundled device profiles, without those of EVSE. */
export const bundledProfileNames: readonly string[] = [...deviceProfiles.keys()].filter(
  (name) => !name.startsWith(evsePrefix),
);
export const bundledEvseProfileNames: readonly string[] = [...deviceProfiles.keys()].filter((name) =>
  name.startsWith(evsePrefix),
);

/** A name without the extension of a profile file. */
export function bareName(text: string): string {
  const extension = extname(text);
  return extensions.includes(extension) ? text.slice(0, -extension.length) : text;
}

/** True if a text names a bundled profile, with or without extension; a path (`./x.yaml`) never does. */
export function isBundledProfile(text: string): boolean {
  return deviceProfiles.has(bareName(text));
}

/** File of a bundled profile, or undefined. */
export function bundledProfilePath(text: string): string | undefined {
  return deviceProfiles.get(bareName(text));
}

/** Names of the proxy maps that come with the program. */
export const bundledProxyMapNames: readonly string[] = [...proxyMaps.keys()];

/** True if a text names a bundled proxy map, with or without extension; a path never does. */
export function isBundledProxyMap(text: string): boolean {
  return proxyMaps.has(bareName(text));
}

/** File of a bundled proxy map, or undefined. */
export function bundledProxyMapPath(text: string): string | undefined {
  return proxyMaps.get(bareName(text));
}

/** Names of the sets of faults that come with the program. */
export const bundledFaultProfileNames: readonly string[] = [...faultProfiles.keys()];

/** True if a text names a bundled set of faults, with or without extension; a path never does. */
export function isBundledFaultProfile(text: string): boolean {
  return faultProfiles.has(bareName(text));
}

/** File of a bundled set of faults, or undefined. */
export function bundledFaultProfilePath(text: string): string | undefined {
  return faultProfiles.get(bareName(text));
}

/** Names of the configurations that come with the program. */
export const bundledExampleNames: readonly string[] = [...examples.keys()];

/** True if a text names a bundled configuration. Without extension only: `fleet.yaml` is a file of the user. */
export function isBundledExample(text: string): boolean {
  return examples.has(text);
}

/** File of a bundled configuration, or undefined. */
export function bundledExamplePath(text: string): string | undefined {
  return examples.get(text);
}

/** Name of a profile in telemetry: the file name without directory and extension. */
export function profileNameOf(reference: string): string {
  return bareName(basename(reference));
}

/** File of a scenario that comes with the program, or undefined. Without extension only, like an example. */
export function bundledScenarioPath(text: string): string | undefined {
  return scenarios.get(text);
}

export const bundledScenarioNames: readonly string[] = [...scenarios.keys()];
