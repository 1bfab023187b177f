//! scratch
use crate::lab::Lab;
use serde_json::json;
#[tokio::test]
async fn scratch_observe_times() {
    let Some(lab) = Lab::start().await else { return };
    for page in ["rows.html", "snapshot.html", "snapshot-frames.html", "snapshot-shadow.html"] {
        let tab = lab.open(page).await;
        for _ in 0..6 {
            let t = std::time::Instant::now();
            let text = lab.text(&tab, "take_snapshot", json!({})).await;
            let a = t.elapsed();
            let t = std::time::Instant::now();
            lab.text(&tab, "find", json!({"text": "item 1499"})).await;
            let b = t.elapsed();
            let t = std::time::Instant::now();
            lab.page_value(&tab, "(()=>{let n=0,out='';const w=document.createTreeWalker(document.body);while(w.nextNode()){const e=w.currentNode;if(e.nodeType==1){if(e.checkVisibility())out+=e.localName+' '+(e.getAttribute('role')??'')+'\\n'}else out+=e.data}return out.length})()").await;
            println!("{page} snapshot {a:?} ({} bytes) find {b:?} raw {:?}", text.len(), t.elapsed());
        }
    }
    lab.browser.shut_down().await;
}
