import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { examples } from '../support/examples.ts';
import { kinds } from '../../src/api/faults/members.ts';
import type { FaultKind } from '../../src/core/faults/kinds.ts';
import { faultKinds } from '../../src/fault-kinds/protocols.ts';
import { kindSchemas, faultForms } from '../../src/fault-kinds/request.ts';
import { dynamicScaleFault, lateWriteFault } from '../../src/fault-kinds/modbus-map.ts';
import { exceptionFault, modbusTransportFaults } from '../../src/fault-kinds/modbus-transport.ts';
import { madeUpProtocols } from '../support/made-up-faults.ts';
import { holds, samples } from '../support/property.ts';

interface Node {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
}

const schemaOf = (row: FaultKind) => kindSchemas(row).parameters as Node;
const targetOf = (row: FaultKind) => kindSchemas(row).target as Node;
const ajv = new Ajv2020();

const wrong = fc.constantFrom<unknown[]>(null, true, 'no such word', -1e300, 0.5, [], {}, [null], ['', 1e9]);

/** Values about a schema: within, at and beyond its bounds, and of other types. */
function about(node: Node): fc.Arbitrary<unknown> {
  const { anyOf, enum: words, items, pattern, properties, type, minItems = 0 } = node;
  const low = node.minimum ?? node.exclusiveMinimum ?? -1e6;
  const high = node.maximum ?? 1e6;
  const within = anyOf
    ? fc.oneof(...anyOf.map(about))
    : words
      ? fc.constantFrom(...words)
      : items
        ? fc.array(about(items), { minLength: Math.max(0, minItems - 1), maxLength: minItems + 2 })
        : properties
          ? objectAbout(node)
          : type === 'boolean'
            ? fc.boolean()
            : type === 'string'
              ? pattern === undefined
                ? fc.string({ maxLength: 4 })
                : fc.stringMatching(new RegExp(pattern))
              : fc.constantFrom(low, high, low - 1, high + 1, Math.trunc((low + high) / 2));
  return fc.oneof({ weight: 12, arbitrary: within }, { weight: 1, arbitrary: wrong });
}

function objectAbout({ properties = {}, required = [] }: Node): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(Object.entries(properties).map(([name, node]) => [name, about(node)]));
  const missing = fc.option(fc.constantFrom(...required, ''), { freq: 8 });
  return fc
    .tuple(
      fc.record<Record<string, unknown>>({ ...members, further: fc.constant(1) }, { requiredKeys: [...required] }),
      missing,
      fc.integer({ min: 0, max: 9 }),
    )
    .map(([object, left, keep]) =>
      Object.fromEntries(
        Object.entries(object).filter(([name]) => name !== left && (name !== 'further' || keep === 0)),
      ),
    );
}

/** What no JSON Schema can say: one member compared with another. */
function comparesMembers(row: FaultKind, given: unknown): boolean {
  const { quantity_min: low, quantity_max: high, steps } = given as Record<string, unknown>;
  if (row === exceptionFault) return Number(low) > Number(high);
  if (row !== dynamicScaleFault || !Array.isArray(steps)) return false;
  const froms = steps.map((step) => Number(step?.above_pct ?? 0));
  return froms.some((from, at) => at > 0 && from <= froms[at - 1]!);
}

describe('JSON Schema of faults', () => {
  for (const row of faultKinds) {
    const name = `${row.protocol} ${row.kind}`;

    it(`decides as the interface does on the parameters of ${name}`, () => {
      const check = ajv.compile(schemaOf(row));
      holds(
        `parameters of ${name}`,
        objectAbout(schemaOf(row)),
        (given) => {
          fc.pre(!comparesMembers(row, given));
          expect(check(given), JSON.stringify(given)).to.equal(row.parameters.safeParse(given).success);
        },
        { runs: 200 },
      );
    });

    it(`takes the defaults of ${name} once the required parameters are there, and refuses any further one`, () => {
      const check = ajv.compile(schemaOf(row));
      const parsed = row.parameters.safeParse({});
      if (parsed.success) expect(check(parsed.data), JSON.stringify(check.errors)).to.equal(true);
      expect(check(undefined)).to.equal(false);
      expect(check({ ...(parsed.data ?? {}), no_such_parameter: 1 })).to.equal(false);
    });

    it(`decides as the interface does on the target of ${name}`, () => {
      const check = ajv.compile(targetOf(row));
      const flat = faultForms().ofKind(row);
      const [parameters] = samples(
        objectAbout(schemaOf(row)).filter((given) => row.parameters.safeParse(given).success),
        1,
      ) as [object];
      holds(
        `target of ${name}`,
        objectAbout(targetOf(row)),
        (given) => {
          const whole = { protocol: row.protocol, kind: row.kind, ...parameters, ...(given as object) };
          // a parameter may have the name of a target that the kind does not take
          fc.pre(Object.keys(given as object).every((member) => !(member in parameters)));
          expect(check(given), JSON.stringify(given)).to.equal(flat.safeParse(whole).success);
        },
        { runs: 100 },
      );
    });
  }

  it('has ranges, defaults, units and nested members', () => {
    const { properties, required } = schemaOf(dynamicScaleFault);
    expect(required).to.deep.equal(['scale_factor', 'steps']);
    expect(properties?.['steps']?.items).to.deep.include({ type: 'object', required: ['shift'] });
    expect(properties?.['steps']?.items?.properties?.['above_pct']).to.deep.equal({
      default: 0,
      description: 'From this active power on, in or out, % of 702.WMaxRtg; default 0.',
      type: 'number',
      minimum: 0,
      maximum: 200,
    });
    expect(kindSchemas(exceptionFault).target).to.deep.include({ dependentRequired: { registers: ['address'] } });
  });

  it('describes every member, at any depth', () => {
    const undescribed = ({ properties = {}, items, anyOf = [] }: Node): string[] => [
      ...Object.entries(properties).flatMap(([name, node]) => [
        ...('description' in node ? [] : [name]),
        ...undescribed(node),
      ]),
      ...(items ? undescribed(items) : []),
      ...anyOf.flatMap(undescribed),
    ];
    const rows = [...faultKinds, ...madeUpProtocols.flatMap(({ kinds }) => kinds)];
    for (const row of rows) expect([...undescribed(schemaOf(row)), ...undescribed(targetOf(row))]).to.deep.equal([]);
  });

  it('is made once for each kind, and stands in no need of other parts', () => {
    for (const row of modbusTransportFaults) {
      expect(kindSchemas(row)).to.equal(kindSchemas(row));
      expect(JSON.stringify(kindSchemas(row))).not.to.include('$ref');
    }
  });

  it('is what the example of the description shows', () => {
    expect(examples('list_fault_kinds').reply).to.deep.equal(JSON.parse(JSON.stringify(kinds.reply([lateWriteFault]))));
  });
});
