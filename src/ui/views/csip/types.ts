import type { ReplyOf } from '../../api/call';

export type CsipStatus = ReplyOf<'csip/status'>;
export type CsipControl = ReplyOf<'csip/controls'>['controls'][number];

/** What each part of the view gets. */
export interface PartProps {
  readonly device: number;
  readonly status: CsipStatus;
}
