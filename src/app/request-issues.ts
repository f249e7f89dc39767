/** Issues of a configuration as answers to requests have them. */
import { basename } from 'node:path';
import { flagOf, isSettingKey, settingKeys, settingOf } from '../config/settings/settings.ts';
import type { SettingKey } from '../config/settings/settings.ts';
import { pointerStep } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';

/** An absolute path that begins a text or follows a quote, up to its last part. */
const folders = /(?<=^|")\/(?:[^/":]+\/)+/g;

/** The setting that an issue names by its flag or by a JSON pointer; undefined: it names none. */
function keyOf({ name }: Issue): SettingKey | undefined {
  const key = name.slice(1);
  return isSettingKey(key) ? key : settingKeys.find((each) => flagOf(each) === name);
}

/**
 * Names a setting by a JSON pointer, and files without their folders: the files of this machine are no concern of the
 * clients of other machines, which may name none.
 */
export function requestIssue(issue: Issue): Issue {
  const key = keyOf(issue);
  if (key === undefined) return issue;
  const { isFile = false } = settingOf(key).kind;
  const detail = isFile ? issue.detail.replaceAll(folders, '') : issue.detail;
  return { ...issue, name: pointerStep(key), detail };
}

/** Issues that name files without their folders. @param files paths of all files that the issues may be about */
export function withoutFolders(issues: readonly Issue[], files: Iterable<string>): readonly Issue[] {
  // a path may be the beginning of another one
  const paths = [...files].sort((a, b) => b.length - a.length);
  const shorten = (text: string) => paths.reduce((shorter, path) => shorter.replaceAll(path, basename(path)), text);
  return issues.map((issue) => ({ ...issue, name: shorten(issue.name), detail: shorten(issue.detail) }));
}
