import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { OutlastProvider } from '@outlast/sdk/react'
import { App } from './app'
import { APPS } from './apps'
import { Toasts } from './components/toast'
import { TipProvider } from './components/tooltip'
import { AppsContext } from './lib/apps'
import { client, queryClient } from './lib/queries'
import './styles.css'

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <OutlastProvider client={client}>
        <TipProvider>
          <AppsContext value={APPS}>
            <App />
          </AppsContext>
          <Toasts />
        </TipProvider>
      </OutlastProvider>
    </QueryClientProvider>
  </StrictMode>,
)
