/** Why the power is what it is: from what is available through every limit to what is delivered. */
import { useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Panel } from '../../../kit/panel';
import { Segments } from '../../../kit/segments';
import { alike, dash, show, timeOfDay } from '../../../look/format';
import { kindOf } from '../../../kit/kind-icons';
import { writerText } from '../page';
import { drawnPower, drawnReactive, linkOf, winnerOf } from './chain';
import type { DrawnChain, DrawnLimit, Why } from './chain';

interface RowProps {
  readonly title: ComponentChildren;
  readonly note: string;
  readonly text: string | undefined;
  readonly look?: string;
  /** absent: not shown */
  readonly unit?: string;
  readonly children?: ComponentChildren;
}

function Row({ title, note, text = dash, look = '', unit, children }: RowProps) {
  return (
    <tr class={look}>
      <th scope="row">
        {title}
        <small>{note}</small>
      </th>
      <td class="track">{children}</td>
      <td class="num">
        {text}
        {unit !== undefined && <span class="unit"> {unit}</span>}
      </td>
    </tr>
  );
}

interface LimitRowProps {
  readonly device: number;
  readonly limit: DrawnLimit;
  /** its value */
  readonly text: string | undefined;
  /** power before the limits */
  readonly from: number;
  /** place of a power on the scale, % */
  readonly place: (value: number) => string;
}

function LimitRow({ device, limit, text, from, place }: LimitRowProps) {
  const { key, title, note, value, state, by, until } = limit;
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
      text={text}
      look={wins ? 'wins' : ''}
    >
      {wins && (
        <>
          <i style={{ width: left }} />
          <i class="cut" style={{ left, width: `calc(${place(Math.max(from, value ?? 0))} - ${left})` }} />
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
  if (!isCut) return `Why ${show(why.delivered_kw, 'activePower')}`;
  const { texts, unit } = alike([why.delivered_kw, why.basis.kw], 'activePower');
  return `Why ${texts.map((text) => `${text}\u00a0${unit}`).join(' and not ')}`;
}

const quantities = [
  ['p', 'P'],
  ['q', 'Q'],
] as const;

interface ChainProps {
  readonly device: number;
  readonly look: string;
  readonly chain: DrawnChain;
}

const scaleOf = ({ rating, basis, delivered }: DrawnChain) => Math.max(rating, basis.value, delivered) || 1;

function Chain({ device, look, chain }: ChainProps) {
  const { name, basis, rows, delivered } = chain;
  // a limit that was in force keeps its row, so that rows do not jump
  const kept = useRef(new Set<string>());
  for (const { key, value } of rows) if (value !== null) kept.current.add(key);
  const off = rows.filter(({ key }) => !kept.current.has(key));
  const shown = rows.filter(({ key }) => kept.current.has(key));
  const quantity = chain.unit === 'kW' ? 'activePower' : 'reactivePower';
  const { texts, unit } = alike([basis.value, delivered, ...shown.map(({ value }) => value)], quantity);
  const [basisText, deliveredText, ...limitTexts] = texts;
  const scale = scaleOf(chain);
  const place = (value: number) => `${Number(Math.min(100, (Math.max(0, value) / scale) * 100).toFixed(2))}%`;
  const bar = (value: number) => <i style={{ width: place(value) }} />;
  return (
    <>
      <table class={`waterfall ${look}`} aria-label={name}>
        <tbody>
          <Row title={basis.title} note={basis.note} text={basisText} unit={unit}>
            {bar(basis.value)}
          </Row>
          {shown.map((limit, at) => (
            <LimitRow key={limit.key} {...{ device, limit, place }} text={limitTexts[at]} from={basis.value} />
          ))}
          <Row title="Delivered" note="after all limits" text={deliveredText} look="delivered" unit={unit}>
            {bar(delivered)}
          </Row>
        </tbody>
      </table>
      {off.length > 0 && <p class="muted off-limits">Off: {off.map(({ title }) => title.toLowerCase()).join(', ')}</p>}
    </>
  );
}

interface WaterfallProps {
  readonly device: number;
  readonly assetType: string;
  readonly why: Why;
  readonly tools?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function Waterfall({ device, assetType, why, tools, children }: WaterfallProps) {
  const { reactive } = why;
  const [chosen, choose] = useState<'p' | 'q'>('p');
  const quantity = reactive === null ? 'p' : chosen;
  const chain = quantity === 'q' && reactive !== null ? drawnReactive(reactive) : drawnPower(why);
  const kind = quantity === 'p' ? 'activePower' : 'reactivePower';
  return (
    <Panel
      title={quantity === 'p' ? headOf(why) : `Why ${show(reactive?.delivered_kvar, 'reactivePower')}`}
      tools={
        <>
          {tools}
          <span class="muted">scale 0 to {show(scaleOf(chain), kind)}</span>
          {reactive !== null && (
            <Segments label="Active or reactive power" options={quantities} value={quantity} onChoice={choose} />
          )}
        </>
      }
    >
      <p class="why">{chain.sentence}</p>
      {children}
      <Chain key={quantity} device={device} look={kindOf(assetType).look} chain={chain} />
    </Panel>
  );
}
