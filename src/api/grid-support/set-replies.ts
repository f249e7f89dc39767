/** Stored sets of the curve and control models in the form of the set in force. */
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import type { Provenance } from '../../core/origin.ts';
import { adoptionIssue } from '../../sunspec/map/adoption.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { isSupported } from '../../sunspec/map/grid-support/state.ts';
import { setsOf, adoptionPoints } from '../../sunspec/map/layout.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { pointText } from '../common/points.ts';
import { isLater } from '../../core/origin.ts';
import { writerReply } from '../common/writer-replies.ts';
import { gridFunctionNames, gridFunctions } from './functions.ts';
import type { GridFunctionName } from './functions.ts';
import type { GridFunction, Member, Members } from './members.ts';
import { membersReply } from './read.ts';

const set1 = /^(Crv|Ctl)\[0\]/;

/** The member of another set; null: the member does not belong to a set. */
function inSet(member: Member, position: number): Member | null {
  const moved = (path: string) => (set1.test(path) ? path.replace(set1, `$1[${position}]`) : null);
  switch (member.kind) {
    case 'number':
    case 'symbol':
    case 'flag': {
      const point = moved(member.point);
      return point === null ? null : { ...member, point };
    }
    case 'curve': {
      const at = moved(member.at);
      return at === null ? null : { ...member, at };
    }
    case 'object': {
      const members = setMembers(member.members, position);
      return Object.keys(members).length === 0 ? null : { ...member, members };
    }
    case 'part':
      return null;
  }
}

/** The members of a function that each set has, with the points of the set at `position`, from 0. */
export function setMembers(members: Members, position: number): Members {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => {
      const setMember = inSet(member, position);
      return setMember === null ? [] : [[name, setMember]];
    }),
  );
}

/** The functions that have sets, in the order of `grid-support`. */
export const setFunctionNames = gridFunctionNames.filter((name) => {
  const { sets }: GridFunction = gridFunctions[name];
  return sets !== undefined;
});

function newest(bank: Bank, slots: readonly PointSlot[]): Provenance | null {
  return slots.reduce<Provenance | null>((last, slot) => {
    const writer = bank.provenance(slot);
    return writer && (last === null || isLater(writer, last)) ? writer : last;
  }, null);
}

function numberIn(bank: Bank, slot: PointSlot | undefined): number | null {
  const value = slot && bank.value(slot);
  return typeof value === 'number' ? value : null;
}

/** All sets of one function, the one in force first; `supported: false` alone where the device does not have it. */
export function setsReply(plant: Plant, { bank }: Device, name: GridFunctionName): Record<string, unknown> {
  const spec: GridFunction = gridFunctions[name];
  const { layout } = bank;
  const model = layout.models.find(({ def }) => def.id === spec.model);
  const points = adoptionPoints(layout, spec.model);
  if (!model || !points || !isSupported(bank, spec)) return { supported: false };
  const image = bank.image();
  const result = bank.value(points.result);
  return {
    supported: true,
    adopt_request: numberIn(bank, points.request),
    adopt_result: typeof result === 'string' ? result.toLowerCase() : null,
    reversion_set: numberIn(bank, points.reversion),
    sets: setsOf(model).map(({ def }, position) => {
      const path = `${def.name}[${position}].`;
      const issue = adoptionIssue(layout, image, spec.model, position + 1);
      const slots = model.slots.filter((slot) => slot.path.startsWith(path));
      return {
        number: position + 1,
        in_force: position === 0,
        read_only: pointText(bank, spec.model, `${path}ReadOnly`) === 'R',
        adoptable: issue === null,
        issue: issue && { point: `${spec.model}.${issue.path}`, detail: issue.detail },
        changed_by: writerReply(plant, newest(bank, slots)),
        ...membersReply(bank, spec.model, setMembers(spec.members, position), (at) => plant.dateMs(at)),
      };
    }),
  };
}
