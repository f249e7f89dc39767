/** The verdict on each device with its reason, margin, power, and when it was back. */
import { KindIcon } from '../../../kit/kind-icons';
import { Panel } from '../../../kit/panel';
import { copyText, csvOf } from '../../../kit/table';
import { alike } from '../../../look/format';
import { deviceHref } from '../../../store/route';
import { backText, byVerdict, marginText, VerdictChip } from './verdict-words';
import type { Capture, Verdict } from './verdict-words';

/** `412.60 → 0.00 → 412.60 kW` */
export function powerText({
  before_kw,
  during_kw,
  after_kw,
}: Pick<Verdict, 'before_kw' | 'during_kw' | 'after_kw'>): string {
  const { texts, unit } = alike([before_kw, during_kw, after_kw], 'activePower');
  return `${texts.every((text) => text === texts[0]) ? (texts[0] ?? '') : texts.join(' → ')} ${unit}`;
}

const csvNames = [
  'device_index',
  'name',
  'verdict',
  'reason',
  'function',
  'category',
  'clause',
  'margin_s',
  'before_kw',
  'during_kw',
  'after_kw',
  'back_after_s',
] as const satisfies readonly (keyof Verdict)[];

function csvText(verdicts: readonly Verdict[]): string {
  return csvOf(
    verdicts,
    csvNames.map((name) => ({ title: name, value: (row: Verdict) => row[name] })),
  );
}

function Rows({ of, isRecording }: { readonly of: Verdict; readonly isRecording: boolean }) {
  const { device_index, name, asset_type, verdict, reason, clause, margin_s } = of;
  return (
    <tbody>
      <tr>
        <th scope="row" rowSpan={2}>
          <span class="device-name">
            <KindIcon of={asset_type} />
            <a href={deviceHref(device_index, 'picture')}>{name}</a>
          </span>
        </th>
        <td>
          <VerdictChip of={verdict} />
        </td>
        <td class="num">{marginText(margin_s)}</td>
        <td class="num">{backText(of, isRecording)}</td>
      </tr>
      <tr>
        <td colSpan={3}>
          <small class="muted">
            {reason}
            {clause !== null && ` (${clause})`}
          </small>
          <small class="muted">{powerText(of)}</small>
        </td>
      </tr>
    </tbody>
  );
}

interface VerdictsProps {
  readonly capture: Capture;
  /** beside the sentence that sums up */
  readonly note: string | null;
}

/** The worst first. */
export function Verdicts({ capture, note }: VerdictsProps) {
  const { verdicts, state, summary } = capture;
  return (
    <Panel
      title="What each device did"
      flush
      tools={
        <button type="button" onClick={() => void copyText(csvText(verdicts), 'CSV')}>
          CSV <span class="visually-hidden">of the verdicts</span>
        </button>
      }
    >
      <p class="above-list">
        <strong data-test="summary">{summary}</strong> {note !== null && <span class="warn">{note}</span>}
      </p>
      <table class="verdicts" aria-label="Verdicts">
        <thead>
          <tr>
            <th scope="col">Device</th>
            <th scope="col">Verdict</th>
            <th scope="col" class="num">
              Margin
            </th>
            <th scope="col" class="num">
              Back after
            </th>
          </tr>
        </thead>
        {byVerdict(verdicts).map((verdict) => (
          <Rows key={verdict.device_index} of={verdict} isRecording={state === 'recording'} />
        ))}
      </table>
    </Panel>
  );
}
