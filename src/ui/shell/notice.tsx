import { notice } from '../store/notices';

/** The short message at the foot of the page, if any. */
export function Notice() {
  if (notice.value === null) return null;
  return (
    <div class="notice" role="status">
      {notice.value}
    </div>
  );
}
