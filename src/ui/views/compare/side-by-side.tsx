/** Each quantity of a device as every protocol presents it. */
import { get } from '../../api/call';
import { Refused } from '../../kit/action';
import { Chip, Empty, Panel } from '../../kit/panel';
import { Segments } from '../../kit/segments';
import { Loading } from '../../kit/states';
import { dash } from '../../look/format';
import { useLive } from '../../store/live';
import { href, param, setParam } from '../../store/route';
import { useDevice } from '../../store/site';
import { isWrong, missing, nameOf, protocolNames, rawTexts, unitOf, valueText } from './quantity';
import type { Consistency, Presentation, Protocol, Quantity } from './quantity';

/** Polling interval of the comparison, ms. */
const paceMs = 2000;

/** Quantities of the short table, in its order; what differs comes with them. */
const main: readonly string[] = [
  'active_power',
  'reactive_power',
  'voltage_ln',
  'frequency',
  'state_of_charge',
  'vehicle_state_of_charge',
  'power_limit',
];

const signs: Readonly<Record<Presentation['cause'], readonly [sign: string, meaning: string, look: string]>> = {
  equal: ['=', 'equal', 'good'],
  rounding: ['≈', 'equal but for rounding', 'good'],
  earlier: ['◷', 'an earlier value', 'off'],
  fault: ['≠', 'differs by a fault', 'bad'],
  unexplained: ['≠', 'differs, and nothing explains it', 'bad'],
  no_value: [dash, 'no value', 'muted'],
};

/** The whole table. */
export const SideBySide = () => <Comparison isShort={false} />;

/** The main quantities, and what differs. */
export const ShortComparison = () => <Comparison isShort />;

function Comparison({ isShort }: { readonly isShort: boolean }) {
  const device = useDevice()?.device_index;
  const { data, problem } = useLive(device === undefined ? null : get('consistency', { query: { device } }), paceMs);
  const differencesOnly = param('show') === 'differences';
  return (
    <Panel
      title="One quantity, every protocol"
      flush
      wide
      tools={
        <>
          {data && <Count data={data} />}
          {isShort ? (
            <a href={href('compare/side-by-side')}>All quantities</a>
          ) : (
            <Segments
              label="Quantities"
              value={differencesOnly ? 'differences' : 'all'}
              options={[
                ['all', 'All'],
                ['differences', 'Only differences'],
              ]}
              onChoice={(choice) => setParam('show', choice === 'all' ? null : choice)}
            />
          )}
        </>
      }
    >
      <Refused problem={problem} />
      {data === undefined && problem === null && <Loading heights={[260]} />}
      {data && <Matrix data={data} quantities={chosenOf(data, isShort, differencesOnly)} />}
    </Panel>
  );
}

const hasDifference = ({ presentations }: Quantity) => presentations.some(isWrong);

/** The quantities to show. */
function chosenOf({ quantities }: Consistency, isShort: boolean, differencesOnly: boolean): readonly Quantity[] {
  if (isShort) return quantities.filter((each) => main.includes(each.quantity) || hasDifference(each));
  return differencesOnly ? quantities.filter(hasDifference) : quantities;
}

function Count({ data: { quantities } }: { readonly data: Consistency }) {
  const count = quantities.filter(hasDifference).length;
  return (
    <Chip tone={count === 0 ? 'good' : 'bad'}>
      {count === 0 ? `all ${quantities.length} agree` : `${count} of ${quantities.length} differ`}
    </Chip>
  );
}

interface MatrixProps {
  readonly data: Consistency;
  readonly quantities: readonly Quantity[];
}

function Matrix({ data, quantities }: MatrixProps) {
  const columns = data.protocols.filter(({ presents }) => presents);
  const absent = data.protocols.filter(({ presents }) => !presents);
  return (
    <>
      {quantities.length === 0 ? (
        <Empty>No protocol shows another value than the registers.</Empty>
      ) : (
        <div class="scroller" tabIndex={0} role="region" aria-label="Comparison">
          <table class="matrix" aria-label="Quantities by protocol">
            <thead>
              <tr>
                <th scope="col">Quantity</th>
                {columns.map(({ protocol }) => (
                  <th key={protocol} scope="col" class="num">
                    {protocolNames[protocol]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {quantities.map((quantity) => (
                <tr key={quantity.quantity} data-test={quantity.quantity}>
                  <th scope="row" title={quantity.description}>
                    {nameOf(quantity)}
                    <small>{unitOf(quantity)}</small>
                  </th>
                  {columns.map((column) => (
                    <Cell key={column.protocol} quantity={quantity} column={column} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Explanations quantities={quantities} />
      <p class="muted above-list small">
        = equal &nbsp; ≈ rounding &nbsp; ◷ earlier value &nbsp; ≠ differs &nbsp; {dash} not there
        {absent.length > 0 && '. Not shown: '}
        {absent.map(({ protocol, reason }) => `${protocolNames[protocol]} (${reason ?? 'nothing to show'})`).join(', ')}
      </p>
    </>
  );
}

interface CellProps {
  readonly quantity: Quantity;
  readonly column: Protocol;
}

/** All places of one protocol that have the quantity. */
function Cell({ quantity, column: { protocol } }: CellProps) {
  const places = quantity.presentations.filter((each) => each.protocol === protocol);
  return (
    <td class={`num${places.some(isWrong) ? ' differs' : ''}`}>
      {places.length === 0 && (
        <span class="muted">
          {dash}
          <small>{missing[protocol]}</small>
        </span>
      )}
      {places.map((place) => (
        <Place key={place.place} quantity={quantity} place={place} />
      ))}
    </td>
  );
}

function Place({ quantity, place }: { readonly quantity: Quantity; readonly place: Presentation }) {
  const [sign, meaning, look] = signs[place.cause];
  return (
    <div title={place.explanation ?? place.place}>
      <span class={look} aria-hidden="true">
        {sign}
      </span>
      <span class="visually-hidden">{meaning}: </span> {place.cause !== 'no_value' && valueText(quantity, place)}
      {(place.cause === 'no_value' ? [place.explanation ?? 'no value'] : rawTexts(place)).map((line) => (
        <small key={line}>{line}</small>
      ))}
    </div>
  );
}

/** Why values differ, with a way to the faults. */
function Explanations({ quantities }: { readonly quantities: readonly Quantity[] }) {
  const wrong = quantities.flatMap((quantity) =>
    quantity.presentations.filter(isWrong).map((place) => ({ quantity, place })),
  );
  if (wrong.length === 0) return null;
  return (
    <ul class="explanations">
      {wrong.map(({ quantity, place }) => (
        <li key={`${quantity.quantity} ${place.place} ${place.protocol}`}>
          <strong class="bad">
            ≠ {protocolNames[place.protocol]}, {nameOf(quantity).toLowerCase()}:
          </strong>{' '}
          {place.explanation} {place.cause === 'fault' && <a href={href('inputs/faults')}>Show the fault</a>}
        </li>
      ))}
    </ul>
  );
}
