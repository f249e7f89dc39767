/** The catalogue and the bundled sets as rows of docs/concepts/faults.md. */
import { kinds } from '../../src/api/faults/members.ts';
import { readFaultProfiles } from '../../src/config/profile/fault-profiles.ts';
import type { FaultKind } from '../../src/core/faults/kinds.ts';
import { faultKinds } from '../../src/fault-kinds/protocols.ts';
import { targetRow } from '../../src/fault-kinds/rows.ts';

function parametersOf(row: FaultKind): string {
  const [kind] = kinds.reply([row]).kinds;
  return (kind?.parameters ?? [])
    .map(
      ({ name, required, default: preset }) =>
        `\`${name}\`${preset !== null ? ` ${String(preset)}` : required ? '' : '?'}`,
    )
    .join(', ');
}

/** Each target by its last member: `registers` needs `address`. */
function targetsOf({ protocol, targets }: FaultKind): string {
  return targets.flatMap((name) => Object.keys(targetRow(protocol, name)?.members ?? {}).slice(-1)).join(', ');
}

/** `| kind | layer | targets | parameters | effect |` up to the column of tests. */
export function catalogueRows(): { readonly kind: string; readonly start: string }[] {
  return faultKinds.map((row) => ({
    kind: row.kind,
    start:
      `| \`${row.kind}\` | ${row.layer} | ${targetsOf(row)} | ${parametersOf(row)} | ${row.summary.replace(/\.$/, '')} |`.replaceAll(
        / {2,}/g,
        ' ',
      ),
  }));
}

/** `| name | title |`. */
export function profileRows(): string[] {
  return readFaultProfiles().map(({ name, title }) => `| \`${name}\` | ${title} |`);
}
