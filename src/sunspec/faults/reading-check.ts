/** Checks of reading and structure faults that need the device, before injection. */
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import type { FaultKind, ProposedFault } from '../../core/faults/kinds.ts';
import { mapTargetOf } from '../../fault-kinds/rows.ts';
import type { MapTarget } from '../../fault-kinds/rows.ts';
import {
  bitsFault,
  dynamicScaleFault,
  falsifyFault,
  freezeFault,
  noiseFault,
  scaleFault,
  strictPointsFault,
  valueFault,
  baseFault,
  commonLength65Fault,
  hideModelFault,
  modelIdFault,
  modelLengthFault,
  shiftFault,
} from '../../fault-kinds/modbus-map.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { slotsNamed } from './targets.ts';
import { canFalsify } from './falsify.ts';
import {
  bitIssue,
  isBitField,
  isQuantity,
  targetedPoints,
  valueIssue,
  valuePoints,
  dynamicScaleIssues,
} from './reading.ts';
import { room } from './structure.ts';

function isOf<P>(fault: ProposedFault, kind: FaultKind<P>): fault is ProposedFault & { readonly parameters: P } {
  return (kind as FaultKind) === fault.kind;
}

/**
 * Refuses a reading or structure fault that does not fit the device.
 * @throws SimError COMMAND_BAD_VALUE with an issue for each wrong member
 */
export function checkReading(fault: ProposedFault, layout: Layout): void {
  const issues = [...readingIssues(fault, layout), ...structureIssues(fault, layout)];
  if (issues.length > 0)
    throw new SimError('COMMAND_BAD_VALUE', `the fault ${fault.kind.kind} does not suit the device`, issues);
}

function readingIssues(fault: ProposedFault, layout: Layout): Issue[] {
  const target = mapTargetOf(fault.request.target ?? {});
  if (isOf(fault, freezeFault)) return exceptIssues(layout, target, fault.parameters.except ?? []);
  if (isOf(fault, valueFault)) {
    if (target.points === undefined && target.registers === undefined)
      return [{ name: '/target/points', detail: 'is required' }];
    const wrong = pointIssues(layout, target, (slot) => valueIssue(slot, fault.parameters));
    return wrong.length > 0 || valuePoints(layout, target, fault.parameters).length > 0
      ? wrong
      : [nothing('can show this value')];
  }
  if (isOf(fault, scaleFault) || isOf(fault, noiseFault)) return quantityIssues(layout, target);
  if (isOf(fault, bitsFault)) return bitIssues(layout, target, fault.parameters);
  if (isOf(fault, dynamicScaleFault)) return dynamicScaleIssues(layout, fault.parameters);
  if (isOf(fault, falsifyFault)) {
    return canFalsify(fault.parameters.switch, layout)
      ? []
      : [{ name: '/parameters/switch', detail: 'the device implements none of its points' }];
  }
  if (!isOf(fault, strictPointsFault)) return [];
  return targetedPoints(layout, target).some(({ def }) => def.size > 1) ? [] : [nothing('has more than one register')];
}

const nothing = (what: string): Issue => ({ name: '/target', detail: `no point in the target ${what}` });

/** Issues of the points named by the target. */
function pointIssues(layout: Layout, { points = [] }: MapTarget, against: (slot: PointSlot) => string | null): Issue[] {
  return points.flatMap((name, at) => {
    const slot = layout.named(name);
    const detail = slot === undefined ? null : against(slot);
    return detail === null ? [] : [{ name: `/target/points/${at}`, detail: `${name} ${detail}` }];
  });
}

function exceptIssues(layout: Layout, target: MapTarget, except: readonly string[]): Issue[] {
  const unknownNames = except.flatMap((name, at) =>
    slotsNamed(layout, name).length > 0
      ? []
      : [{ name: `/parameters/except/${at}`, detail: `the device has no point, group or model ${name}` }],
  );
  const excepted = new Set(except.flatMap((name) => slotsNamed(layout, name)));
  if (unknownNames.length > 0 || targetedPoints(layout, target).some((slot) => !excepted.has(slot)))
    return unknownNames;
  return [{ name: '/parameters/except', detail: 'leaves no point to freeze' }];
}

function quantityIssues(layout: Layout, target: MapTarget): Issue[] {
  const wrong = pointIssues(layout, target, (slot) => {
    if (!isQuantity(slot)) return 'is no quantity';
    return slot.implemented ? null : 'is not implemented';
  });
  return wrong.length > 0 || targetedPoints(layout, target).some((slot) => isQuantity(slot) && slot.implemented)
    ? wrong
    : [nothing('is a quantity of the device')];
}

type Bits = readonly (number | string)[];

function bitIssues(
  layout: Layout,
  target: MapTarget,
  { set = [], clear = [] }: { readonly set?: Bits | undefined; readonly clear?: Bits | undefined },
): Issue[] {
  const wrong = pointIssues(layout, target, (slot) => (isBitField(slot) ? null : 'is no bit field'));
  const fields = targetedPoints(layout, target).filter(isBitField);
  if (wrong.length > 0) return wrong;
  if (fields.length === 0) return [nothing('is a bit field')];
  const unknownBits = (bits: Bits, member: string) =>
    bits.flatMap((bit, at) => {
      const [first, ...others] = fields.map((slot) => bitIssue(slot, bit));
      return first === undefined || first === null || others.includes(null)
        ? []
        : [{ ...first, name: `/parameters/${member}/${at}` }];
    });
  return [...unknownBits(set, 'set'), ...unknownBits(clear, 'clear')];
}

function structureIssues(fault: ProposedFault, layout: Layout): Issue[] {
  if (isOf(fault, baseFault)) {
    const highest = 0x1_0000 - layout.size;
    if (fault.parameters.address <= highest) return [];
    return [
      {
        name: '/parameters/address',
        detail: `the map has ${layout.size} registers: its address can be at most ${highest}`,
      },
    ];
  }
  if (isOf(fault, commonLength65Fault)) {
    return layout.models.some(({ def, length }) => def.id === 1 && length > 65)
      ? []
      : [{ name: '/kind', detail: 'the device has no model 1 with more than 65 registers' }];
  }
  if (
    !(
      isOf(fault, shiftFault) ||
      isOf(fault, hideModelFault) ||
      isOf(fault, modelIdFault) ||
      isOf(fault, modelLengthFault)
    )
  )
    return [];
  const { model } = fault.parameters;
  const visibleModels = layout.models.filter(({ hidden }) => !hidden);
  if (!visibleModels.some(({ def }) => def.id === model)) {
    return [
      {
        name: '/parameters/model',
        detail: `the device shows no model ${model}`,
        allowed: visibleModels.map(({ def }) => def.id),
      },
    ];
  }
  if (!isOf(fault, shiftFault)) return [];
  const minRegisters = -room(layout, model);
  if (fault.parameters.registers >= minRegisters) return [];
  return [
    {
      name: '/parameters/registers',
      detail: `the part before model ${model} can lose at most ${-minRegisters} registers`,
    },
  ];
}
