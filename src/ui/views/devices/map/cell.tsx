import { shapeOf } from '../condition';
import type { Condition } from '../condition';
import { cellText, ownerLook, ownerOf, shareOf } from './groups';
import type { Colour } from './groups';

interface CellProps {
  readonly condition: Condition;
  readonly colour: Colour;
  /** all owners, for their letters */
  readonly owners?: readonly string[];
  /** true: the stop of the tab key in a map */
  readonly isStop?: boolean;
  /** under local control */
  readonly isLocal?: boolean;
  readonly role?: 'gridcell';
  readonly onPress: () => void;
  readonly onReach?: () => void;
}

/** A device as a square: colour by a value, shape by its state. */
export function Cell({
  condition,
  colour,
  owners = [],
  isStop = true,
  isLocal = false,
  role,
  onPress,
  onReach,
}: CellProps) {
  const shape = shapeOf(condition);
  const share = shareOf(condition, colour);
  const [letter, look] = colour === 'owner' ? ownerLook(ownerOf(condition), owners) : ['', ''];
  return (
    <button
      type="button"
      role={role}
      class={`cell ${shape} ${look}${isLocal ? ' local' : ''}`}
      style={share === null ? undefined : { '--x': Math.round(share) }}
      aria-label={cellText(condition)}
      title={role === undefined ? cellText(condition) : undefined}
      tabIndex={isStop ? 0 : -1}
      onClick={onPress}
      onFocus={onReach}
      onPointerEnter={onReach}
    >
      {shape === 'tripped' ? '×' : letter}
    </button>
  );
}
