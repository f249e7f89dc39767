/** Why the power is what it is: from what is available through every limit to what is delivered. */
import { useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Panel } from '../../../kit/panel';
import { dash, fixed, show, timeOfDay } from '../../../look/format';
import { kindOf } from '../../../kit/kind-icons';
import { writerText } from '../page';
import { basisTitle, linkOf, nameOf, ratingOf, winnerOf } from './chain';
import type { Limit, Why } from './chain';

const kw = (value: number | null) => fixed(value, (value ?? 0) >= 1000 ? 1 : 2);

interface RowProps {
  readonly title: ComponentChildren;
  readonly note: string;
  readonly value: number | null;
  readonly look?: string;
  readonly unit?: boolean;
  readonly children?: ComponentChildren;
}

function Row({ title, note, value, look = '', unit = false, children }: RowProps) {
  return (
    <tr class={look}>
      <th scope="row">
        {title}
        <small>{note}</small>
      </th>
      <td class="track">{children}</td>
      <td class="num">
        {value === null ? dash : kw(value)}
        {unit && <span class="unit"> kW</span>}
      </td>
    </tr>
  );
}

interface LimitRowProps {
  readonly device: number;
  readonly limit: Limit;
  /** power before the limits, kW */
  readonly fromKw: number;
  /** place of a power on the scale, % */
  readonly place: (value: number) => string;
}

function LimitRow({ device, limit, fromKw, place }: LimitRowProps) {
  const { key, kw: value, state, by, until } = limit;
  const { title, note } = nameOf(limit);
  const link = linkOf(device, key);
  const wins = state === 'wins';
  const words = [by === null ? note : writerText(by), ...(until === null ? [] : [`until ${timeOfDay(until)}`])];
  const left = place(value ?? 0);
  return (
    <Row
      title={
        <>
          {wins && '▲ '}
          {link === null ? title : <a href={link}>{title}</a>}
        </>
      }
      note={words.join(', ')}
      value={value}
      look={wins ? 'wins' : ''}
    >
      {wins && (
        <>
          <i style={{ width: left }} />
          <i class="cut" style={{ left, width: `calc(${place(Math.max(fromKw, value ?? 0))} - ${left})` }} />
        </>
      )}
      {!wins && value !== null && <u style={{ left }} />}
    </Row>
  );
}

interface WaterfallProps {
  readonly device: number;
  readonly assetType: string;
  readonly why: Why;
  readonly tools?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** `Why 6.00 kW and not 11.00 kW` */
function headOf(why: Why): string {
  const isCut = winnerOf(why) !== undefined && why.basis.kw - why.delivered_kw >= 0.005;
  return `Why ${show(why.delivered_kw, 'activePower')}${isCut ? ` and not ${show(why.basis.kw, 'activePower')}` : ''}`;
}

export function Waterfall({ device, assetType, why, tools, children }: WaterfallProps) {
  const { basis, chain, delivered_kw: delivered, sentence } = why;
  // a limit that was in force keeps its row, so that rows do not jump
  const kept = useRef(new Set<string>());
  for (const { key, kw: value } of chain) if (value !== null) kept.current.add(key);
  const rows = chain.filter(({ key }) => kept.current.has(key));
  const off = chain.filter(({ key }) => !kept.current.has(key));
  const scale = Math.max(ratingOf(why), basis.kw, delivered) || 1;
  const place = (value: number) => `${Number(Math.min(100, (Math.max(0, value) / scale) * 100).toFixed(2))}%`;
  const bar = (value: number) => <i style={{ width: place(value) }} />;
  return (
    <Panel
      title={headOf(why)}
      tools={
        <>
          {tools}
          <span class="muted">scale 0 to {show(scale, 'activePower')}</span>
        </>
      }
    >
      <p class="why">{sentence}</p>
      {children}
      <table class={`waterfall ${kindOf(assetType).look}`} aria-label="Limits of the power">
        <tbody>
          <Row title={basisTitle(why)} note={basis.text} value={basis.kw} unit>
            {bar(basis.kw)}
          </Row>
          {rows.map((limit) => (
            <LimitRow key={limit.key} device={device} limit={limit} fromKw={basis.kw} place={place} />
          ))}
          <Row title="Delivered" note="after all limits" value={delivered} look="delivered" unit>
            {bar(delivered)}
          </Row>
        </tbody>
      </table>
      {off.length > 0 && (
        <p class="muted off-limits">Off: {off.map((limit) => nameOf(limit).title.toLowerCase()).join(', ')}</p>
      )}
    </Panel>
  );
}
