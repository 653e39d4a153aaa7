/** A page kept in step with its thread's stream, as the SDK does it. */
export {
  LivePage,
  pageChangeOf as changeOf,
  type LivePageState as LiveState,
  type PageChange as Change,
} from '@outlast/sdk'
