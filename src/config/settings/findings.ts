/** Settings of the findings about the other side of each protocol. */
import { severities } from '../../core/findings/rule.ts';
import { heldAtStart, live } from './changes.ts';
import { setting } from './setting.ts';
import { choice, onOff, reportFiles } from './value-kinds.ts';

export const findingSettings = {
  findings_enable: setting({
    flags: ['--findings'],
    kind: onOff,
    default: true,
    changes: live,
    doc: 'Judges what masters, head-ends and central systems do wrong (GET findings).',
  }),
  findings_report: setting({
    flags: ['--findings_report'],
    kind: reportFiles,
    default: [],
    needs: 'findings_enable',
    changes: heldAtStart('It names files of this machine, which are written when the process ends.'),
    doc: 'File for the findings about all peers, written when the process ends: HTML, JUnit XML, JSON or text, by its extension.',
  }),
  findings_fail_on: setting({
    flags: ['--findings_fail_on'],
    kind: choice([...severities, 'never'], 'SEVERITY'),
    default: 'never',
    needs: 'findings_enable',
    changes: heldAtStart('It decides how the process ends.'),
    doc: 'Exit code 4 if a peer has broken a rule of this severity or a worse one.',
  }),
};
